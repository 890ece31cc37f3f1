/** GNU's tools where others have their names. */
const GNU =
  /^g(?=(?:awk|cat|chmod|chown|chroot|cp|cut|date|dd|echo|env|find|head|install|kill|ln|ls|make|mkdir|mv|nice|nohup|printf|rm|rmdir|sed|shred|shuf|sort|split|stat|stdbuf|tail|tar|tee|test|time|timeout|touch|tr|truncate|uniq|unlink|xargs)$)/

/** Programs that stand beside themselves in several versions. */
const VERSIONED =
  /^(python|pip|pypy|ruby|perl|php|lua|node|nodejs|java|gcc|g\+\+|cc|cpp|clang|clang\+\+|bash|zsh|ksh|fish)-?[0-9][0-9.]*$/

/** The name of a program without its folder, version and Windows extension, lower case; zsh takes `=rm` for the path of `rm`. */
export const programName = (word: string): string =>
  word
    .slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1)
    .toLowerCase()
    .replace(/^=/, '')
    .replace(/\.(?:exe|cmd|bat|com)$/, '')
    .replace(VERSIONED, '$1')
    .replace(GNU, '')
    .replace(/^mkfs\.\w+$/, 'mkfs')
