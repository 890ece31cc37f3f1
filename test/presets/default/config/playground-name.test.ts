import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../../../../presets/default/config.ts'

test('no upstream is named like that of the Playground, whose requests are left out of sums', async () => {
  const text = (name: string) => `gateway_key: guard_0123456789abcdef
upstreams: [{ name: ${name}, base_url: "http://127.0.0.1:9", auth: none, styles: [messages] }]
`
  const read = (name: string) => parseConfig(text(name), '/etc/guard/guard-config.yml', {})
  await assert.rejects(read('playground'), /upstreams\[0\]\.name: "playground" is the name of the upstream that the/)
  assert.equal((await read('play')).config.upstreams[0]?.name, 'play')
})
