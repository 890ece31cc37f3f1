import type { Gateway } from 'guard-gateway/core'
import { type Command, commandKind } from 'guard-gateway/lib/command'
import type { GuidePage } from 'guard-gateway/lib/page'
import { code, plainly, table } from './table.ts'

/** Every command that is registered: where the command line runs the gateway, all of them. */
export const commandsPage = (gateway: Gateway): GuidePage => ({
  id: 'commands',
  title: 'Commands',
  text: () =>
    `\`guard <command> --help\` prints the same. Every command takes \`--config\`, \`--json\` and what \`guard --help\` lists besides.${gateway.registry(commandKind).get('gateway run') === undefined ? ' This gateway is part of another program, and knows some of the commands only: `guard --help` lists them all.' : ''}\n\n${[...gateway.registry(commandKind)].map(commandText).join('\n')}`,
})

const commandText = ({ id, args, summary, options = {}, example = [] }: Command): string =>
  [
    `## guard ${id}\n`,
    `${code(`guard ${id}${args === undefined ? '' : ` ${args}`}`)}: ${plainly(summary)}.\n`,
    table(
      ['Flag', 'Meaning'],
      Object.entries(options).map(([flag, meaning]) => [code(flag), plainly(meaning)]),
    ),
    ...[example].flat().map((line) => `${code(line)}\n`),
  ].join('\n')
