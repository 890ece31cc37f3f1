import { GuardError, type Plugin } from 'guard-gateway/core'
import type { Static } from 'typebox'
import { type AskJson, commandKind } from '#lib/command'
import { writeJson } from '#lib/json'
import { terminalLine } from '#lib/text'
import type { tested } from './routes.ts'

export interface NotifyCommandOptions {
  /** Lets `work` ask the gateway that runs, or one that is opened for it. */
  readonly asking: <T>(work: (ask: AskJson) => Promise<T>) => Promise<T>
}

/** Gives the command line `notify test`. */
export const notifyCommands = ({ asking }: NotifyCommandOptions): Plugin => ({
  name: 'notify-commands',
  requires: ['notify'],
  apply(gateway) {
    gateway.registry(commandKind).add({
      id: 'notify test',
      args: '[receiver]',
      summary: 'send a test message to one receiver of notifications, or to each',
      example: ['guard notify test', 'guard notify test team'],
      run: async ({ args: [receiver], options }, { out }) => {
        const body = receiver === undefined ? {} : { receiver }
        const answer = (await asking((ask) => ask('POST', '/api/notify/test', body))) as Answer
        for (const line of options.json === true ? [writeJson(answer)] : answer.results.map(lineOf))
          out.write(`${line}\n`)
        return exitCode(answer)
      },
    })
  },
})

type Answer = Static<typeof tested>

const exitCode = ({ results }: Answer): number => {
  if (results.length === 0)
    throw new GuardError('USAGE', 'There is no receiver: name one under notify.receivers in the configuration.')
  return results.every(({ outcome }) => outcome === 'delivered') ? 0 : 1
}

const lineOf = ({ receiver, outcome, error }: Answer['results'][number]): string =>
  terminalLine(`${receiver}  ${outcome === 'delivered' ? outcome : `not delivered. ${error}`}`)
