import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ProfileSettings } from '../../../plugins/clients/profile-settings.ts'
import { pi } from '../../../plugins/clients/profiles/pi.ts'
import { recording } from './agent.ts'
import { workplace } from './kit.ts'

describe('guard run', () => {
  for (const [client, session, sign] of [
    ['goose', 'a,x-guard-project-id=other', ','],
    ['gemini', 'a, x-guard-project-id: other', ','],
    ['crush', 'a$(touch b)', '$'],
    ['crush', 'a`touch b`', '`'],
    ['qwen-code', 'a $HOME', '$'],
    ['opencode', '{file:~/.netrc}', '{file:'],
    ['kilo', 'a {env:HOME}', '{env:'],
  ] as const)
    it(`takes no session that ${client} would read as something else: ${session}`, async (context) => {
      const { command } = await workplace(context, { address: await recording(context) })
      await assert.rejects(command('run', [], { session, model: 'm-1', as: client }, ['true']), (error: Error) =>
        error.message.includes(`takes ${sign} in a session name for something else. Name it without.`),
      )
    })
})

describe('the extension of pi', () => {
  it('has no label that pi runs as a command or takes for a variable, and sends each as it is', () => {
    const setting: ProfileSettings = {
      ...{ address: 'http://127.0.0.1:1', project: 'AWS_SECRET_ACCESS_KEY', agent: 'HOME', session: '!touch here' },
      ...{ guard: [], config: '', folder: '', keyed: false, client_key: '', home: '', statusline: false },
      ...{ sendsOwnLogin: () => false, styleOf: () => 'messages', has: () => false },
      model: undefined,
    }
    for (const model of [undefined, 'm-1']) {
      const [{ text } = { text: '' }] = pi.files({ ...setting, model })
      const sent = [...text.matchAll(/"(x-guard-[\w-]+)":"([^"]*)"/g)].filter(([, name]) => name !== 'x-guard-key')
      assert.ok(sent.length >= 3)
      // as the client decides in core/resolve-config-value.js
      for (const [, , value = ''] of sent) assert.ok(!value.startsWith('!') && process.env[value] === undefined, value)
      assert.ok(sent.every(([, , value = '']) => /^ [^ ]/.test(value)))
      const headers = new Headers(Object.fromEntries(sent.map(([, name = '', value = '']) => [name, value])))
      assert.equal(headers.get('x-guard-project-id'), 'AWS_SECRET_ACCESS_KEY')
      assert.equal(headers.get('x-guard-session-id'), '!touch here')
    }
  })
})
