import { profiles as clients } from 'guard-gateway/plugins/clients'
import type { Command, Input, Io } from '#lib/command'

/** `guard doctor`: checks everything that could stop the gateway or one client, one line per finding; exit code 1 for an error. */
export const doctor = (locate: (options: Input['options'], io: Io) => string): Command => ({
  id: 'doctor',
  args: '[client]',
  summary: 'check configuration, key, address, storage, upstreams and profiles, or what one client needs',
  options: { '--online': 'also ask whether the upstreams and MCP servers answer' },
  choices: { client: clients.map(({ id }) => id) },
  example: ['guard doctor', 'guard doctor --online', 'guard doctor claude-code'],
  standalone: true,
  run: async (input, io) => (await import('./run.ts')).runDoctor(locate(input.options, io), input, io),
})
