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
