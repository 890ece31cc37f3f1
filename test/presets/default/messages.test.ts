import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstRunText, nextSteps } from '../../../presets/default/messages.ts'

const first = { file: '/home/ann/work/guard-config.yml', key_line: 3, git: 'ignored' } as const
const cwd = '/home/ann/work'

test('a first start tells where to watch, what to do next, and how clients are pointed here', () => {
  const text = nextSteps(first, cwd, 'guard')('http://127.0.0.1:4711').join('\n')
  assert.match(text, /^Open http:\/\/127\.0\.0\.1:4711 to watch\./m)
  for (const command of ['guard playground run exact-loop --mode enforce', 'guard run -- claude', 'guard setup'])
    assert.ok(text.includes(`  ${command} `), command)
  assert.match(text, /OpenAI style, base URL +http:\/\/127\.0\.0\.1:4711\/v1$/m)
  assert.match(text, /Anthropic style, base URL +http:\/\/127\.0\.0\.1:4711$/m)
  assert.match(text, /line 3 of guard-config\.yml$/m)
})

test('a first start says where the key is, and that git leaves it alone', () => {
  assert.equal(
    firstRunText(first, cwd),
    'Wrote guard-config.yml with a new gateway key, readable by you only; the key is in line 3, gateway_key. Git ignores it already.',
  )
})
