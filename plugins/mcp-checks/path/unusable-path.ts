/** Device names of Windows, reserved in every folder and with every extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\.|$)/i

/** An environment variable as the first folder. Most of them are absolute. */
const VARIABLE = /^(?:\$(?:env:)?[A-Z_][A-Z0-9_]*|\$\{[^/}]+\}|\$env:\w+|%[A-Za-z_]\w*(?:\([^/)]*\))?%)(?=[\\/]|$)/

/** Longer than any file name. Pattern matching can take polynomial time. */
const LONG_NAME = /[^\\/]{256}/

/** The reason why a path cannot be judged, as the end of a sentence about it. Undefined for a usable path. */
export const unusablePath = (form: string, platform: NodeJS.Platform): string | undefined => {
  if (form === '') return 'is empty'
  if (/\p{Cc}/u.test(form)) return 'holds a control character'
  if (!form.isWellFormed()) return 'holds half of a character'
  if (LONG_NAME.test(form)) return 'holds a name that is longer than a file can have'
  if (form.startsWith('~')) return 'begins with ~, which only a shell can resolve'
  if (VARIABLE.test(form)) return 'begins with a variable, which some programs put a folder in place of'
  if (form.includes('://') || /^file:/i.test(form)) return 'is a URL and not a path'
  return platform === 'win32' ? refusedOnWindows(form) : refusedElsewhere(form)
}

const refusedElsewhere = (form: string): string | undefined =>
  form.includes('\\') ? 'holds a backslash, which some programs take for a slash' : undefined

const refusedOnWindows = (form: string): string | undefined => {
  if (/^[\\/]{2}/.test(form)) return 'names a network share or a device'
  if (/^[a-z]:(?![\\/])/i.test(form)) return 'is relative to the current folder of a drive'
  if (form.replace(/^[a-z]:/i, '').includes(':')) return 'names a stream of a file'
  for (const segment of form.split(/[\\/]/)) {
    if (DEVICE.test(segment)) return 'names a device'
    if (/[. ]$/.test(segment) && segment !== '.' && segment !== '..') return 'has a name that ends in a dot or blank'
    if (/~[0-9]/.test(segment)) return 'uses a short name'
  }
  return undefined
}
