import type { Plugin } from 'rolldown'

/**
 * Escapes the characters beyond ASCII in strings, templates, regular expressions and comments of chunks. V8 keeps the source of what it
 * runs, with two bytes a character if one of them needs two.
 */
export const ascii: Plugin = {
  name: 'ascii',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) if (file.type === 'chunk') file.code = escaped(file.code)
  },
}

const escaped = (code: string): string =>
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
