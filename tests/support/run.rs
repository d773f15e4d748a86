//! Runs the program as a user does. Every run starts from the same environment: variables that change the output on a
//! developer's machine (colours, width, flags) are removed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use serde_json::Value;
use slotscope::output::Written;
use slotscope::summary::Summary;
use tempfile::TempDir;

pub use crate::cases::{at_once, raw_rows, rows, words};
use crate::schema;

/// Variables of other programs that also change this one's output.
const SHARED_VARIABLES: &[&str] = &[
    "COLUMNS",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "RAYON_NUM_THREADS",
];

/// The program under test, which Cargo puts next to the folder with the test binaries.
pub fn program() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        let this = std::env::current_exe().unwrap();
        let name = format!("slotscope{}", std::env::consts::EXE_SUFFIX);
        this.parent().unwrap().with_file_name(name)
    });
    &PROGRAM
}

/// The arguments of a run: its words, or a line as a user types it.
pub trait Arguments {
    fn arguments(&self) -> Vec<&str>;
}

impl Arguments for str {
    fn arguments(&self) -> Vec<&str> {
        words(self)
    }
}

impl Arguments for String {
    fn arguments(&self) -> Vec<&str> {
        words(self)
    }
}

impl Arguments for [&str] {
    fn arguments(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Arguments for [&str; N] {
    fn arguments(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Arguments for Vec<&str> {
    fn arguments(&self) -> Vec<&str> {
        self.clone()
    }
}

impl<A: Arguments + ?Sized> Arguments for &A {
    fn arguments(&self) -> Vec<&str> {
        (**self).arguments()
    }
}

/// `slotscope ARGS` with an empty standard input.
pub fn slotscope<A: Arguments + ?Sized>(args: &A) -> Command {
    let mut command = Command::new(program());
    command.args(args.arguments()).stdin(Stdio::null());
    clean_environment(&mut command);
    command
}

/// Removes the variables that change the program's output, and ends what tests inherit from `nohup` or `&`: programs ignore
/// the signals that their parent ignores. They do not inherit a handler, so tests have one; it ends the tests as before.
pub fn clean_environment(command: &mut Command) {
    #[cfg(unix)]
    static HEEDED: std::sync::Once = std::sync::Once::new();
    #[cfg(unix)]
    HEEDED.call_once(|| {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let ends = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, ends.clone())
                .expect("a handler of a signal");
        }
    });
    for variable in SHARED_VARIABLES {
        command.env_remove(variable);
    }
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("SLOTSCOPE_") {
            command.env_remove(variable);
        }
    }
}

/// The root of the repository.
pub fn root() -> &'static Path {
    let support = Path::new(env!("CARGO_MANIFEST_DIR"));
    support.ancestors().nth(2).unwrap()
}

/// `slotscope ARGS` in the root of the repository, with names of samples as in the README.
pub fn in_repository<A: Arguments + ?Sized>(args: &A) -> Command {
    let mut command = slotscope(args);
    command.current_dir(root());
    command
}

/// Runs `command` with `input` on its standard input.
pub fn feed(mut command: Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|threads| {
        // A program that exits early closes its end; its exit code tells whether that is right.
        threads.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    })
}

/// A scratch directory in which the program runs, so that `reports/` is its own. Removed when dropped.
pub struct Scratch(TempDir);

impl Scratch {
    /// A copy of the program that other users can run. Another process writes it: a file that is open for writing, even
    /// in a process forked meanwhile by another test, cannot be executed.
    pub fn program(&self) -> PathBuf {
        let copied = self.path("slotscope");
        let mut copy = Command::new("install");
        copy.args(["-m", "755"]).arg(program());
        assert!(copy.arg(&copied).status().unwrap().success());
        copied
    }

    pub fn new() -> Self {
        Scratch(tempfile::tempdir().unwrap())
    }

    /// One with a file in it.
    pub fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let scratch = Scratch::new();
        scratch.file(name, content);
        scratch
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The names and texts of all files below this directory.
    pub fn files(&self) -> Vec<(String, String)> {
        let (mut folders, mut files) = (vec![self.path("")], Vec::new());
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
            {
                match fs::read(&path) {
                    _ if path.is_dir() => folders.push(path),
                    Err(error) => panic!("{}: {error}", path.display()),
                    Ok(bytes) => {
                        let text = String::from_utf8_lossy(&bytes).into_owned();
                        files.push((path.display().to_string(), text));
                    }
                }
            }
        }
        files
    }

    /// Writes a file; its name is relative to the program's working directory.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    pub fn command<A: Arguments + ?Sized>(&self, args: &A) -> Command {
        let mut command = slotscope(args);
        command.current_dir(self.0.path());
        command
    }

    /// Runs the program; the JSON that it prints has to fit its schema.
    #[track_caller]
    pub fn run<A: Arguments + ?Sized>(&self, args: &A) -> Output {
        let output = self.command(args).output().unwrap();
        schema::check(&args.arguments(), &output);
        output
    }

    pub fn piped<A: Arguments + ?Sized>(&self, args: &A, input: &[u8]) -> Output {
        feed(self.command(args), input)
    }

    /// The JSON that a run prints, which must succeed.
    #[track_caller]
    pub fn report<A: Arguments + ?Sized>(&self, args: &A) -> Value {
        report(&self.run(args))
    }

    /// The text that a run prints, which must succeed.
    #[track_caller]
    pub fn text<A: Arguments + ?Sized>(&self, args: &A) -> String {
        String::from_utf8(succeeded(self.run(args))).unwrap()
    }

    /// The text that a run prints, which must succeed, on one line.
    #[track_caller]
    pub fn prose<A: Arguments + ?Sized>(&self, args: &A) -> String {
        on_one_line(&self.text(args))
    }

    /// Asserts that each command line of a table is refused as by `assert_fails`: `COMMAND | PART | PART`, a line each.
    #[track_caller]
    pub fn refuses(&self, table: &str) {
        let complaint = |row: &str| {
            let (line, parts) = row.trim().split_once(" | ").expect("a command | a part");
            let parts: Vec<&str> = parts.split(" | ").collect();
            let said = fails(&self.run(&words(line)), &parts);
            said.err().map(|complaint| format!("{line}: {complaint}"))
        };
        let complaints: Vec<String> = table.lines().filter_map(complaint).collect();
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }

    /// The JSON in a file.
    #[track_caller]
    pub fn json(&self, name: impl AsRef<Path>) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The text of a file.
    #[track_caller]
    pub fn read(&self, name: impl AsRef<Path>) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    /// Runs a shell command line in which `slotscope` is the program.
    pub fn shell(&self, line: impl AsRef<str>) -> Output {
        self.bash(line.as_ref()).output().unwrap()
    }

    /// A shell that runs such a command line.
    pub fn bash(&self, line: &str) -> Command {
        let mut bash = Command::new("bash");
        bash.args(["-c", line]).stdin(Stdio::null());
        self.here(bash)
    }

    /// script(1), which runs such a command line on a terminal: what is typed is its standard input.
    pub fn on_terminal(&self, line: &str) -> Command {
        let mut script = Command::new("script");
        script
            .args(["-qec", line, "/dev/null"])
            .env("TERM", "xterm");
        self.here(script)
    }

    /// A command in this directory, for which the program is on the path.
    fn here(&self, mut command: Command) -> Command {
        let program = program().parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        clean_environment(&mut command);
        command.env("PATH", path).current_dir(self.0.path());
        command
    }
    /// The names in a directory, including hidden ones, sorted.
    pub fn entries(&self, name: &str) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.path(name))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

pub fn code(output: &Output) -> i32 {
    output.status.code().expect("it was not killed")
}

pub fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

pub fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Asserts that the run failed with one line containing all of `parts`, and without a result.
#[track_caller]
pub fn assert_fails(output: &Output, parts: &[&str]) {
    if let Err(complaint) = fails(output, parts) {
        panic!("{complaint}");
    }
}

/// The failed conditions of `assert_fails`; tables of cases collect these and show all.
pub fn fails(output: &Output, parts: &[&str]) -> Result<(), String> {
    let message = stderr(output);
    let lacking = parts.iter().find(|part| !message.contains(**part));
    match () {
        () if code(output) != 2 => Err(format!("exit code {}: {message}", code(output))),
        () if message.lines().count() != 1 => Err(format!("not one line: {message}")),
        () if !message.starts_with("slotscope: ") => Err(format!("no name in front: {message}")),
        () if !output.stdout.is_empty() => Err(format!("a result: {}", stdout(output))),
        () => lacking.map_or(Ok(()), |part| Err(format!("no \"{part}\" in: {message}"))),
    }
}

/// A run that is judged as a whole.
pub trait Ran {
    /// Asserts that it failed as by `assert_fails`; the parts of the message are separated by ` | `.
    fn refused(&self, parts: &str);
}

impl Ran for Output {
    #[track_caller]
    fn refused(&self, parts: &str) {
        assert_fails(self, &parts.split(" | ").collect::<Vec<_>>());
    }
}

/// The standard output of a successful run.
#[track_caller]
pub fn succeeded(output: Output) -> Vec<u8> {
    assert_eq!(
        code(&output),
        0,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

/// The files that belong to a report with this report.json, sorted.
pub fn files_of(json: &Value) -> Vec<String> {
    let summary: Summary = serde_json::from_value(json.clone()).unwrap();
    let set = slotscope::report::outputs();
    let has_content = |name: &&str| {
        // The loads by role are not in report.json; nodes that hold something are drawn where slots are.
        let name = match *name {
            "nodes.png" => "slot-heatmap.png",
            name => name,
        };
        let written = set.write(&summary, name, &mut std::io::sink());
        matches!(written, Ok(Written::Whole))
    };
    let files = slotscope::report::files()
        .map(|(name, _)| name)
        .filter(has_content);
    let mut names: Vec<String> = files.map(String::from).collect();
    names.sort();
    names
}

/// The JSON printed by a successful run.
#[track_caller]
pub fn report(output: &Output) -> Value {
    assert_eq!(code(output), 0, "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Removes the commands from a step and its alternatives.
pub fn without_command(step: &mut Value) {
    step.as_object_mut().unwrap().remove("command").unwrap();
    let others = step.get_mut("alternatives").and_then(Value::as_array_mut);
    others.into_iter().flatten().for_each(without_command);
}

/// `report` without the parts that describe how and from which files it was made.
pub fn without_origin(mut report: Value) -> Value {
    report.as_object_mut().unwrap().remove("run").unwrap();
    let input = report["input"].as_object_mut().unwrap();
    input.remove("files").unwrap();
    input.remove("bytes_read").unwrap();
    // The commands of steps contain file names.
    for step in report["verdict"]["steps"].as_array_mut().unwrap() {
        without_command(step);
    }
    report
}

/// The first places at which two JSON values differ, one per line.
pub fn differences(found: &Value, expected: &Value) -> String {
    fn walk(found: &Value, expected: &Value, path: String, places: &mut Vec<String>) {
        match (found, expected) {
            _ if found == expected || places.len() > 8 => {}
            (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
                for (name, value) in a {
                    walk(value, &b[name], format!("{path}.{name}"), places);
                }
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                for (i, (a, b)) in a.iter().zip(b).enumerate() {
                    walk(a, b, format!("{path}[{i}]"), places);
                }
            }
            _ => places.push(format!("{path}: {found:.200} for {expected:.200}")),
        }
    }
    let mut places = Vec::new();
    walk(found, expected, String::new(), &mut places);
    places.join("\n")
}

/// Assertions on a text, in a chain; a failure shows the text.
pub trait Said {
    fn says(&self, part: &str) -> &Self;
    fn lacks(&self, part: &str) -> &Self;
    fn begins(&self, start: &str) -> &Self;
    fn ends(&self, end: &str) -> &Self;
}

impl Said for str {
    #[track_caller]
    fn says(&self, part: &str) -> &Self {
        assert!(self.contains(part), "no {part:?} in: {self}");
        self
    }

    #[track_caller]
    fn lacks(&self, part: &str) -> &Self {
        assert!(!self.contains(part), "{part:?} in: {self}");
        self
    }

    #[track_caller]
    fn begins(&self, start: &str) -> &Self {
        assert!(self.starts_with(start), "no {start:?} first: {self}");
        self
    }

    #[track_caller]
    fn ends(&self, end: &str) -> &Self {
        assert!(self.ends_with(end), "no {end:?} last: {self}");
        self
    }
}

/// A text without its line breaks and with single blanks.
pub fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Asserts that a number is this one, give or take `most`.
#[track_caller]
pub fn near(found: f64, expected: f64, most: f64) {
    let is_near = (found - expected).abs() <= most;
    assert!(is_near, "{found}, not {expected} give or take {most}");
}

/// Asserts that a text contains all of `parts`.
#[track_caller]
pub fn assert_contains(text: &str, parts: &[&str]) {
    let lacking = parts.iter().find(|part| !text.contains(**part));
    assert!(lacking.is_none(), "no {lacking:?} in: {text}");
}
