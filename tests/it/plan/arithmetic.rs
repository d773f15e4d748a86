//! Scripts of plans compute only with numbers: bash executes commands in text that it evaluates as arithmetic, so a
//! server's reply must never get there. Every name in arithmetic or in a subscript is traced back to its assignment: to
//! digits, other such names, or `as_number`, which accepts only digits.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use testkit::run::{Scratch, stderr, stdout};

/// Functions that print numbers, or ranges of them.
const PRINT_NUMBERS: [&str; 3] = ["count", "cost", "missing"];

/// Constructs that evaluate text as arithmetic or as commands, and that no script needs.
const EVALUATE: &str = r#"(?m)(^|[;&|({]|\b(do|then|else))\s*(eval|let|source|\.)\s|\s-(gt|lt|ge|le|eq|ne)\s|(declare|local|typeset) -i|printf -v|\[\[ -v|\bunset\b|\$\{\w+:[^-+=?0-9]"#;

/// The defects of a script.
fn faults(script: &str) -> Vec<String> {
    let text = code(script);
    let evaluate = Regex::new(EVALUATE).unwrap();
    let mut faults: Vec<String> = evaluate
        .find_iter(&text)
        .map(|of| format!("evaluated: {}", of.as_str()))
        .collect();
    let mut lint = Lint::new(&text);
    let counted = Regex::new(r"\b([A-Za-z_]\w*) *(?:=[^=]|\+\+|--|[-+*/%]=)").unwrap();
    for (function, expression) in expressions(&text) {
        for of in counted.captures_iter(&expression) {
            lint.assigned
                .push((function.clone(), of[1].to_owned(), "0".into()));
        }
        lint.found.push((function, expression));
    }
    for (function, expression) in std::mem::take(&mut lint.found) {
        lint.require(&expression, &function);
    }
    while let Some(next) = lint.left.pop() {
        lint.check(&next);
    }
    faults.append(&mut lint.faults);
    faults
}

/// A value that must be a number: a variable, or the argument of a function at some position and, for a list, all after
/// it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Number {
    Variable(String),
    Argument(String, usize),
    Arguments(String, usize),
}

struct Lint<'a> {
    /// Each assignment: function, name, value.
    assigned: Vec<(String, String, String)>,
    /// The words of all calls of each function.
    calls: BTreeMap<String, Vec<(String, Vec<String>)>>,
    text: &'a str,
    /// The expressions, each with its function.
    found: Vec<(String, String)>,
    seen: BTreeSet<Number>,
    left: Vec<Number>,
    faults: Vec<String>,
}

impl<'a> Lint<'a> {
    fn new(text: &'a str) -> Self {
        let mut lint = Lint {
            assigned: Vec::new(),
            calls: BTreeMap::new(),
            text,
            found: Vec::new(),
            seen: BTreeSet::new(),
            left: Vec::new(),
            faults: Vec::new(),
        };
        let functions: BTreeSet<&str> = by_function(text)
            .filter_map(|(function, line)| {
                line.strip_prefix(function)?
                    .starts_with("()")
                    .then_some(function)
            })
            .collect();
        let assignment = Regex::new(r"(^|[\s;(])([A-Za-z_]\w*)(\[[^\]]*\])?\+?=").unwrap();
        let listed = Regex::new(r"\bfor (\w+) in ([^;]*);").unwrap();
        let read = Regex::new(r"\bread( -\S+( \S+)?)*((?: [a-z_]\w*)+)").unwrap();
        for (function, line) in by_function(text) {
            let mut add = |name: &str, value: &str| {
                lint.assigned
                    .push((function.into(), name.into(), value.into()))
            };
            for of in assignment.captures_iter(line) {
                let value = &line[of.get(0).unwrap().end()..];
                // A comparison has a second `=`.
                if !value.starts_with(['=', '~']) {
                    add(&of[2], &words(value).first().cloned().unwrap_or_default());
                }
            }
            for of in listed.captures_iter(line) {
                add(&of[1], &of[2]);
            }
            for of in read.captures_iter(line) {
                of[3]
                    .split_whitespace()
                    .for_each(|name| add(name, "what is read"));
            }
            let starts = line.match_indices(|c: char| c.is_ascii_alphabetic());
            for (at, _) in
                starts.filter(|(at, _)| *at == 0 || line[..*at].ends_with([' ', '(', '"']))
            {
                let name = functions.iter().find(|name| {
                    let rest = line[at..].strip_prefix(**name);
                    rest.is_some_and(|rest| rest.starts_with([' ', ')', ';']) || rest.is_empty())
                });
                let is_command = [
                    "", "do", "then", "else", "&&", "||", "!", "{", "if", "while", "$(", "))", ";",
                ];
                let before = line[..at].trim_end();
                if let Some(name) = name
                    && is_command.iter().any(|word| {
                        before.ends_with(word)
                            && (!word.is_empty() || before.is_empty() || before.ends_with(')'))
                    })
                {
                    let call = words(line[at + name.len()..].trim_start());
                    lint.calls
                        .entry((*name).into())
                        .or_default()
                        .push((function.into(), call));
                }
            }
        }
        lint
    }

    fn check(&mut self, number: &Number) {
        match number {
            Number::Variable(name) => {
                let set: Vec<_> = self
                    .assigned
                    .iter()
                    .filter(|(_, assigned, _)| assigned == name)
                    .cloned()
                    .collect();
                for (function, _, value) in set {
                    // This one function does the checking.
                    if !(function == "as_number" && name == "number") {
                        self.require(&value, &function);
                    }
                }
            }
            Number::Argument(function, at) | Number::Arguments(function, at) => {
                let is_list = matches!(number, Number::Arguments(..));
                for (caller, call) in self.calls.get(function).cloned().unwrap_or_default() {
                    // Forwarded arguments keep their order.
                    let passed_on = call.iter().position(|word| word == "\"$@\"");
                    if let Some(before) = passed_on.filter(|before| before < at) {
                        let own = self.shifted(&caller) + at - before;
                        self.add(if is_list {
                            Number::Arguments(caller, own)
                        } else {
                            Number::Argument(caller, own)
                        });
                        continue;
                    }
                    // A word that is split into several may be the last one.
                    let first = (*at).min(call.len().max(1));
                    let last = if is_list { call.len() } else { first };
                    for word in call.iter().take(last).skip(first - 1) {
                        self.require(word, &caller);
                    }
                }
            }
        }
    }

    /// Parses an expression: all of its names must be numbers.
    fn require(&mut self, expression: &str, function: &str) {
        let word = Regex::new(
            r#"\$\{?#|\$\(([a-z_]+)|\$\{!?([A-Za-z_]\w*)|\$(\d|@|\{\d)|\$?([A-Za-z_]\w*)"#,
        )
        .unwrap();
        let mut rest = expression.to_owned();
        // The words of a command are not part of the number it prints.
        while let Some(at) = rest.find("$(").filter(|at| !rest[*at..].starts_with("$((")) {
            let inner = enclosed(&rest[at + 1..], '(', ')').to_owned();
            let name = inner
                .trim_start_matches('(')
                .split([' ', ')'])
                .next()
                .unwrap_or("")
                .to_owned();
            if !PRINT_NUMBERS.contains(&name.as_str()) {
                self.faults.push(format!(
                    "{function}: a number is what {name} prints: {expression}"
                ));
            }
            rest.replace_range(at..at + 1 + inner.len(), "0");
        }
        for of in word.captures_iter(&rest.clone()) {
            let name = of.get(2).or(of.get(4)).map(|name| name.as_str());
            let indices = of[0].starts_with("${!");
            match (of.get(3).map(|at| at.as_str()), name) {
                (Some("@"), _) => {
                    let shifted = self.shifted(function);
                    self.add(Number::Arguments(function.into(), shifted + 1));
                }
                (Some(at), _) => {
                    let at = at.trim_start_matches('{').parse().unwrap();
                    self.add(Number::Argument(function.into(), at));
                }
                (None, Some("SECONDS")) => {}
                (None, Some(_)) if indices => {}
                (None, Some(name))
                    if self
                        .assigned
                        .iter()
                        .any(|(_, assigned, _)| assigned == name) =>
                {
                    self.add(Number::Variable(name.into()));
                }
                (None, Some(name)) => self
                    .faults
                    .push(format!("{function}: {name} is set nowhere: {expression}")),
                (None, None) => {}
            }
        }
    }

    fn add(&mut self, number: Number) {
        if self.seen.insert(number.clone()) {
            self.left.push(number);
        }
    }

    /// Number of arguments that a function shifts before using the others.
    fn shifted(&self, function: &str) -> usize {
        let shift = |line: &str| {
            let count = line.trim().strip_prefix("shift")?.trim();
            Some(count.parse().unwrap_or(1))
        };
        by_function(self.text)
            .filter(|(of, _)| *of == function)
            .filter_map(|(_, line)| shift(line))
            .sum()
    }
}

/// Each line, and the function that contains it.
fn by_function(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut function = "";
    text.lines().map(move |line| {
        if let Some((name, _)) = line.split_once("() {") {
            function = name;
        }
        let of = (function, line);
        if line.starts_with('}') || line.ends_with("; }") && line.contains("() {") {
            function = "";
        }
        of
    })
}

/// The text that bash evaluates as arithmetic: between double parentheses, and in subscripts.
fn expressions(text: &str) -> Vec<(String, String)> {
    let subscript = Regex::new(r"[A-Za-z_]\w*\[([^\]@*]+)\]").unwrap();
    let mut found = Vec::new();
    for (function, line) in by_function(text) {
        for (at, _) in line.match_indices("((") {
            found.push((
                function.to_owned(),
                enclosed(&line[at..], '(', ')').to_owned(),
            ));
        }
        let in_subscripts = subscript.captures_iter(line);
        found.extend(in_subscripts.map(|of| (function.to_owned(), of[1].to_owned())));
    }
    found
}

/// The text from an opening bracket to its closing bracket.
fn enclosed(text: &str, open: char, close: char) -> &str {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == open) - i32::from(c == close);
        if depth == 0 {
            return &text[..at + c.len_utf8()];
        }
    }
    text
}

/// The words of a command, up to its end.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut depth, mut is_quoted) = (Vec::new(), String::new(), 0, false);
    for c in text.chars() {
        match c {
            '"' if depth == 0 => is_quoted = !is_quoted,
            '(' | '{' => depth += 1,
            ')' | '}' if depth == 0 => break,
            ')' | '}' => depth -= 1,
            ';' | '|' | '&' | '\n' if depth == 0 && !is_quoted => break,
            ' ' if depth == 0 && !is_quoted => {
                words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
                continue;
            }
            _ => {}
        }
        word.push(c);
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// A script without comments and single-quoted text, which bash does not evaluate. A letter stands for quoted text that
/// is not numbers.
fn code(script: &str) -> String {
    let (mut code, mut quoted, mut is_double) = (String::new(), None::<String>, false);
    let mut rest = script.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, &mut quoted) {
            ('\'', Some(text)) => {
                let is_number = text
                    .chars()
                    .all(|c| c.is_ascii_digit() || c == '-' || c.is_ascii_whitespace());
                code.push_str(if is_number { text } else { "quoted" });
                quoted = None;
            }
            (_, Some(text)) => text.push(c),
            ('\\', None) => {
                code.push('_');
                rest.next();
            }
            ('\'', None) if !is_double => quoted = Some(String::new()),
            ('#', None) if !is_double && code.ends_with([' ', '\n']) => {
                while rest.peek().is_some_and(|c| *c != '\n') {
                    rest.next();
                }
            }
            (_, None) => {
                is_double ^= c == '"';
                code.push(c);
            }
        }
    }
    code
}

#[test]
fn scripts_calculate_with_numbers_alone() {
    let scratch = Scratch::new();
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/");
    let (dump, topology) = (
        format!("{samples}hot-tag.keys"),
        format!("{samples}seed-cluster.nodes"),
    );
    for kind in ["setslot", "valkey", "redis-8.4"] {
        let args = ["plan", &dump, "--topology", &topology, "--commands", kind];
        let output = scratch.run(&args);
        assert!(output.status.success(), "{}", stderr(&output));
        let faults = faults(stdout(&output));
        assert!(faults.is_empty(), "{kind}: {faults:#?}");
    }
}

#[test]
fn what_a_server_said_is_found_in_arithmetic() {
    for script in [
        "x=$(info 1 stats evicted_keys)\n((${x:-0} > 3))\n",
        "x[1]=$(info 1 stats evicted_keys)\ny=$((x[1] + 1))\n",
        "f() {\n    local x=$1\n    y[x]=0\n}\nf \"$(ask 1 DBSIZE)\"\n",
        "f() {\n    y=$(($2 + 1))\n}\nreply=$(ask 1 DBSIZE)\nf 1 \"$reply\"\n",
        "f() {\n    shift\n    for x in \"$@\"; do y=$((x)); done\n}\nr=$(ask 1 DBSIZE)\nf 1 2 $r\n",
        "while read -r x; do y=$((x + 1)); done\n",
        "x=$(ask 1 DBSIZE)\n[[ $x == a && ${x%% *} -gt 60 ]]\n",
        "x=$(ask 1 DBSIZE)\neval \"$x\"\n",
        "x=$(ask 1 DBSIZE)\necho \"${name[x]}\"\n",
        "x=$(ask 1 DBSIZE)\necho \"${name[$x]}\"\n",
        "x=$(ask 1 DBSIZE)\nz=$x\necho \"${name:$x}\" $((z))\n",
    ] {
        assert!(!faults(script).is_empty(), "{script}");
    }
    let right = "as_number() {\n    number=''\n    number=$1\n}\nas_number \"$(ask 1 DBSIZE)\"\nx=$number\n((x > 3))\n";
    assert_eq!(faults(right), Vec::<String>::new());
}
