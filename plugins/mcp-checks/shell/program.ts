import { quoted } from 'guard-gateway/lib/text'

/** GNU tools with a prefix. */
const GNU =
  /^g(?=(?:awk|cat|chmod|chown|chroot|cp|cut|date|dd|echo|env|find|head|install|kill|ln|ls|make|mkdir|mv|nice|nohup|printf|rm|rmdir|sed|shred|shuf|sort|split|stat|stdbuf|tail|tar|tee|test|time|timeout|touch|tr|truncate|uniq|unlink|xargs)$)/

/** Programs with versioned names. */
const VERSIONED =
  /^(python|pip|pypy|ruby|perl|php|lua|node|nodejs|java|gcc|g\+\+|cc|cpp|clang|clang\+\+|bash|zsh|ksh|fish)-?[0-9][0-9.]*$/

/** The name of a program in lower case, without folder, version and Windows extension. In zsh `=rm` means the path of `rm`. */
export const programName = (word: string): string =>
  word
    .slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1)
    .toLowerCase()
    .replace(/^=/, '')
    .replace(/\.(?:exe|cmd|bat|com)$/, '')
    .replace(VERSIONED, '$1')
    .replace(GNU, '')
    .replace(/^mkfs\.\w+$/, 'mkfs')

/** Names that say nothing but which program it is. */
const WELL_KNOWN: ReadonlySet<string> = new Set(
  `apt apt-get awk base64 bash brew bun cargo cat chmod chown cmake cp crontab curl cut date dd deno diff docker docker-compose doas du echo env
  eval exec find gcc gem gh git go gradle grep gunzip gzip head helm java jq kill killall kubectl ln ls make mkdir mv mvn mysql nc ncat nice node
  nohup npm npx openssl perl php pip pip3 pkill pnpm podman printenv printf ps psql pwd python python3 rg rm rmdir rsync ruby rustc scp sed sftp sh
  shutdown sort source sqlite3 ssh stat su sudo systemctl tail tar tee terraform test timeout touch tr tsc uniq unlink unzip uv vi vim watch wc
  wget which whoami xargs yarn zip zsh`.split(/\s+/),
)

/** A program in a reason. */
export const named = (word: string): string => (WELL_KNOWN.has(word) ? word : quoted(word))
