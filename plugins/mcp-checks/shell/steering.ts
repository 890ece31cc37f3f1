/** Assignments by which a command is made quiet, coloured, localised or told where it runs, and nothing else. */
export const HARMLESS =
  /^(?:CI|NODE_ENV|DEBUG|VERBOSE|FORCE_COLOR|NO_COLOR|CLICOLOR(?:_FORCE)?|TERM|COLUMNS|LINES|TZ|LANG|LC_[A-Z]+|PORT|RUST_LOG|RUST_BACKTRACE|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|CGO_ENABLED|GOOS|GOARCH)=[\w.:,@+-]*$/

/** Assignments to variables by which a program can be made to load or run something else. */
export const STEERING =
  /^(?:LD_|DYLD_|GIT_|BASH_|PERL5|RUBY(?:OPT|LIB)|PYTHON(?:PATH|STARTUP|HOME)|NODE_(?:OPTIONS|PATH)|JAVA_TOOL|JDK_JAVA|MAKEFLAGS|PATH|IFS|ENV|SHELL|PS4|PROMPT_COMMAND|npm_config_|(?:HOME|LESSOPEN|TAR_OPTIONS)=|GCONV_|XDG_CONFIG|RUST(?:C|DOC|FLAGS)|CARGO_|GOFLAGS|PYTEST_|OPENSSL_|[A-Z_]*(?:PAGER|EDITOR|BROWSER|SSH|ASKPASS)(?:_|\b))/i
