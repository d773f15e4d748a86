# packaging/formula fills in the version and the checksums of a release's archives.
class Slotscope < Formula
  desc "Finds why a Redis or Valkey Cluster shard is full or hot, and how to fix it"
  homepage "https://github.com/slotscope/slotscope"
  version "@version@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "https://github.com/slotscope/slotscope/releases/download/v#{version}/slotscope-aarch64-apple-darwin.tar.gz"
      sha256 "@aarch64-apple-darwin@"
    end
    on_intel do
      url "https://github.com/slotscope/slotscope/releases/download/v#{version}/slotscope-x86_64-apple-darwin.tar.gz"
      sha256 "@x86_64-apple-darwin@"
    end
  end
  on_linux do
    on_arm do
      url "https://github.com/slotscope/slotscope/releases/download/v#{version}/slotscope-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "https://github.com/slotscope/slotscope/releases/download/v#{version}/slotscope-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "slotscope"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/slotscope.bash" => "slotscope"
    zsh_completion.install "completions/_slotscope"
    fish_completion.install "completions/slotscope.fish"
    pkgshare.install "samples"
  end

  test do
    output = shell_output("#{bin}/slotscope analyze #{pkgshare}/samples/commerce.keys --no-files")
    assert_match "5,000 keys", output
  end
end
