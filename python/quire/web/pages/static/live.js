/* News of the service: one stream of server-sent events, open only while the page is looked at,
   because a browser opens few connections to one host. */

export function listen(watches, handlers) {
  let source = null;

  function open() {
    if (source || document.hidden) return;
    source = new EventSource(`/live?${new URLSearchParams({ watches: watches() })}`);
    for (const [name, handle] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => handle(JSON.parse(event.data)));
    }
    source.addEventListener("end", close);
    document.documentElement.dataset.live = "on";
  }

  function close() {
    source?.close();
    source = null;
    delete document.documentElement.dataset.live;
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
}
