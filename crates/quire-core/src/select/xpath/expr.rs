//! The parts of a parsed expression.

/// A whole expression, and how many different tests are in it.
#[derive(Clone, Debug)]
pub(super) struct Parsed {
    pub expr: Expr,
    pub tests: usize,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Number(f64),
    Text(String),
    /// Operators of equal precedence, from left to right.
    Chain(Box<Expr>, Vec<(Op, Expr)>),
    Negative(Box<Expr>),
    Call(Function, Vec<Expr>),
    Path(Box<Path>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Union,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path {
    pub start: Start,
    /// Predicates on the start expression, as in `(//a)[1]`.
    pub predicates: Vec<Expr>,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Start {
    /// `/...`
    Document,
    /// A relative path.
    Context,
    /// `(...)` or a function call.
    Expr(Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub axis: Axis,
    pub test: Test,
    /// The number of its test, below [`Parsed::tests`].
    pub test_id: usize,
    pub predicates: Vec<Expr>,
    /// Whether a predicate may depend on positions; needed for every context node, so computed
    /// once.
    pub counts: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    Itself,
    Parent,
    Ancestor,
    AncestorOrSelf,
    Attribute,
    FollowingSibling,
    PrecedingSibling,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::select) enum Test {
    /// `*`
    Any,
    /// `prefix:*`
    Prefix(String),
    /// `name`
    Name(String),
    /// `prefix:name`
    Qualified(String, String),
    /// `text()`
    Text,
    /// `comment()`
    Comment,
    /// `processing-instruction()`
    Instruction,
    /// `node()`
    Node,
}

macro_rules! functions {
    ($($variant:ident $name:literal $least:literal $most:expr;)*) => {
        /// The supported functions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Function { $($variant,)* }
        /// Name, function, minimum and maximum number of arguments.
        pub(super) const FUNCTIONS: &[(&str, Function, usize, usize)] = &[$(($name, Function::$variant, $least, $most),)*];
    };
}

functions! {
    Boolean "boolean" 1 1;
    Ceiling "ceiling" 1 1;
    Concat "concat" 2 usize::MAX;
    Contains "contains" 2 2;
    Count "count" 1 1;
    False "false" 0 0;
    Floor "floor" 1 1;
    Last "last" 0 0;
    LocalName "local-name" 0 1;
    Name "name" 0 1;
    NormalizeSpace "normalize-space" 0 1;
    Not "not" 1 1;
    Number "number" 0 1;
    Position "position" 0 0;
    Round "round" 1 1;
    StartsWith "starts-with" 2 2;
    String "string" 0 1;
    StringLength "string-length" 0 1;
    Substring "substring" 2 3;
    SubstringAfter "substring-after" 2 2;
    SubstringBefore "substring-before" 2 2;
    Sum "sum" 1 1;
    Translate "translate" 3 3;
    True "true" 0 0;
}

/// Whether a predicate may depend on the position or number of candidates.
pub(super) fn may_count(predicate: &Expr) -> bool {
    is_number(predicate) || mentions_position(predicate)
}

/// Whether the value of the expression is a number, which a predicate compares with the position.
fn is_number(expr: &Expr) -> bool {
    use Function::{Ceiling, Count, Floor, Last, Number, Position, Round, StringLength, Sum};
    match expr {
        Expr::Number(_) | Expr::Negative(_) => true,
        Expr::Text(_) | Expr::Path(_) => false,
        Expr::Chain(_, rest) => rest.iter().any(|(op, _)| {
            matches!(
                op,
                Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Modulo
            )
        }),
        Expr::Call(function, _) => matches!(
            function,
            Ceiling | Count | Floor | Last | Number | Position | Round | StringLength | Sum
        ),
    }
}

/// Whether *this* predicate uses `position()` or `last()`; uses in inner brackets do not count.
fn mentions_position(expr: &Expr) -> bool {
    match expr {
        Expr::Number(_) | Expr::Text(_) => false,
        Expr::Chain(first, rest) => {
            mentions_position(first) || rest.iter().any(|(_, operand)| mentions_position(operand))
        }
        Expr::Negative(inner) => mentions_position(inner),
        Expr::Call(Function::Position | Function::Last, _) => true,
        Expr::Call(_, arguments) => arguments.iter().any(mentions_position),
        Expr::Path(path) => match &path.start {
            Start::Expr(start) => mentions_position(start),
            _ => false,
        },
    }
}
