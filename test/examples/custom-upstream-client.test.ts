import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startService, upstreamClientConforms } from 'guard-gateway/test'
import { tokenFile } from '../../examples/custom-upstream-client.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-token-'))
after(() => rm(folder, { recursive: true, force: true }))
const file = join(folder, 'token')
writeFileSync(file, 'first\n')

upstreamClientConforms(tokenFile(file))

test('a gateway shows the upstream the token of the moment, and no request goes out without one', async () => {
  await using service = await startService({
    plugins: [tokenFile(file)],
    upstreams: (url) =>
      `[{ name: inside, base_url: "${url}", styles: [chat_completions], client: token_file, auth: bearer, api_key: in-the-file }]`,
  })
  const ask = (content: string) =>
    service.request('POST', '/v1/chat/completions', { model: 'm-1', messages: [{ role: 'user', content }] })
  const shown = () => {
    const { headers } = service.provider.last
    return headers[headers.findIndex((name) => name.toLowerCase() === 'authorization') + 1]
  }

  assert.equal((await ask('one')).status, 200)
  assert.equal(shown(), 'Bearer first')

  await writeFile(file, 'second\n')
  await utimes(file, 1, 1)
  await ask('two')
  assert.equal(shown(), 'Bearer second')

  await rm(file)
  assert.equal((await ask('three')).status, 502)
  assert.equal(service.provider.requests.length, 2)
})
