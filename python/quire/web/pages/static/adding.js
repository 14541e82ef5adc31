// A form that takes a while says so, and is not sent twice.
for (const form of document.querySelectorAll("form[data-busy]")) {
  form.addEventListener("submit", () => {
    const button = form.querySelector("button.main");
    button.textContent = form.dataset.busy;
    // Later, so that the value of the button is still sent.
    setTimeout(() => { button.disabled = true; });
  });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}
