import { type Gateway, type Plugin, stages } from 'guard-gateway/core'
import { parserProcess } from '#lib/parser-process'

/** Ends the processes of parsers with the last gateway of this program. */
export const parsers = (): Plugin => ({
  name: 'parsers',
  apply(gateway: Gateway) {
    let leave = (): void => {}
    gateway.hooks.open.tap('parsers', () => {
      leave = parserProcess.use()
    })
    gateway.hooks.close.tap({ name: 'parsers', stage: stages.close.storage }, () => leave())
  },
})
