import type { Plugin } from 'rolldown'
import { minifySync } from 'rolldown/utils'

/** Takes white space and comments out of code that nobody reads: of packages, and what Ajv writes. Names of packages stay, so that traces of stacks can be read. Licences are in the notices. */
export const unreadCode: Plugin = {
  name: 'guard-unread-code',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== 'chunk' || !/^vendor\/|^chunks\/validator-/.test(file.fileName)) continue
      const isGenerated = file.fileName.startsWith('chunks/')
      const options = {
        module: true,
        compress: false,
        mangle: isGenerated,
        codegen: { removeWhitespace: true, legalComments: 'none' as const },
      }
      const { code, errors } = minifySync(file.fileName, file.code, options)
      if (errors.length > 0) throw new Error(`${file.fileName}: ${errors.join(' ')}`)
      file.code = code
    }
  },
}
