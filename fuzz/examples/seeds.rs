//! Writes the seeds of each target, including the files in seeds/, into DIRECTORY/NAME/, and prints the names.

use std::fs;
use std::path::PathBuf;

use slotscope_fuzz::targets::TARGETS;

fn main() -> std::io::Result<()> {
    let directory: PathBuf = std::env::args_os().nth(1).expect("a directory").into();
    let files: Vec<_> = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/seeds"))?.collect();
    for target in TARGETS.iter() {
        let folder = directory.join(target.name);
        fs::create_dir_all(&folder)?;
        for (i, seed) in (target.seeds)().iter().enumerate() {
            fs::write(folder.join(format!("seed-{i}")), seed)?;
        }
        for file in &files {
            let file = file.as_ref().map_err(|error| std::io::Error::other(error.to_string()))?;
            fs::copy(file.path(), folder.join(file.file_name()))?;
        }
        println!("{}", target.name);
    }
    Ok(())
}
