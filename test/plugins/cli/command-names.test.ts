import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Command } from '#lib/command'
import { commandKind } from '#lib/command'
import { nameCommands } from '../../../plugins/cli/command-names.ts'
import { withCommands } from '../../../presets/default/commands.ts'
import { fakeIo } from '../../kit/io.ts'

const command = (id: string, route: string): Command => ({ id, route, summary: id, run: async () => 0 })
const commands = [
  command('replay list', 'GET /api/v1/runs'),
  command('agents keys', 'GET /api/agents/{id}'),
  command('sessions resume', 'POST /api/sessions/{id}/resume'),
]

describe('nameCommands', () => {
  it('names the command instead of the route that it stands for', () => {
    for (const [text, named] of [
      ['List them with GET /api/v1/runs.', 'List them with "guard replay list".'],
      ['List them with GET /api/agents/{id}.', 'List them with "guard agents keys <id>".'],
      ['Use POST /api/sessions/ses_1-a:b/resume or the page.', 'Use "guard sessions resume ses_1-a:b" or the page.'],
      ['POST /api/sessions/{id}/resume', '"guard sessions resume <id>"'],
    ] as const)
      assert.equal(nameCommands(text, commands), named)
  })

  it('leaves routes that no command stands for', () => {
    for (const text of [
      'Send it to POST /api/v1/runs/import.',
      'GET /api/v1/runs/abc',
      'GET /api/agents/{id}/keys',
      'GET /api/agents/a.b/keys',
      'PUT /api/v1/runs',
      'no route',
    ])
      assert.equal(nameCommands(text, commands), text)
  })

  it('is needed by no message of an error code that says how to list something', async () => {
    const gateway = await withCommands(fakeIo())
    const unnamed = [...gateway.errorCodes].filter(
      ({ help }) => /\bList them with /.test(help) && / \/api/.test(nameCommands(help, gateway.registry(commandKind))),
    )
    assert.deepEqual(
      unnamed.map(({ id }) => id),
      ['PLAYGROUND_RUN_NOT_FOUND'],
      'no command lists these',
    )
  })
})
