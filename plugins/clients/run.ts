import type { Gateway } from 'guard-gateway/core'
import type { Command } from '#lib/command'
import type { ClientsOptions } from './options.ts'
import { profiles } from './profiles/index.ts'

/** `guard run`: starts one agent with the environment that points it at the gateway. It leaves no files. */
export const runAgent = (gateway: Gateway, options: ClientsOptions): Command => ({
  id: 'run',
  args: '[-- command...]',
  summary: 'start one agent through the gateway; nothing is left behind',
  options: {
    '--project <id>':
      'project of its requests; the name in package.json, or of the folder, if absent. Without a policy of its own it has that of "default"',
    '--agent <id>': "its id; the client's name if absent",
    '--session <id>': 'one session for all its requests; "new" makes an id',
    '--mode <mode>': 'shadow or enforce, where server.allow_mode_header is on',
    '--model <id>': 'the model that it asks for',
    '--as <client>': 'treat the command as this client',
    '--env <name...>': 'give it a variable of the environment that holds a key',
    '--start': 'start a gateway for as long as the agent runs, if none answers',
  },
  choices: { '--mode': ['shadow', 'enforce'], '--as': profiles.map(({ id }) => id) },
  example: ['guard run -- claude', 'guard run --project demo -- claude -p "fix the tests"'],
  run: async (input, io) => (await import('./start-agent.ts')).startAgent(gateway, options, input, io),
})
