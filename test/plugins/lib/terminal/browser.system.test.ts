import assert from 'node:assert/strict'
import { chmod, mkdtempDisposable, readFile, watch, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { it } from 'node:test'
import { showInBrowser } from '#lib/terminal'

const skip = process.platform !== 'linux' && 'opens with xdg-open on Linux alone'

it('opens web addresses as they are, and nothing else', { skip }, async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'guard-browser-'))
  const opener = join(folder.path, 'xdg-open')
  await writeFile(
    opener,
    `#!/bin/sh\nprintf '%s\\n' "$@" > "${folder.path}/part" && mv "${folder.path}/part" "${folder.path}/opened"\n`,
  )
  await chmod(opener, 0o700)
  const { PATH = '' } = process.env
  process.env.PATH = folder.path + delimiter + PATH
  try {
    const changes = watch(folder.path)[Symbol.asyncIterator]()
    // the look begins with the first question
    let next = changes.next()
    const env = { DISPLAY: ':0' }
    for (const refused of [
      'file:///etc/passwd',
      'javascript:alert(1)',
      '--help',
      'https://x.example/ && id',
      'http://x\nid',
    ])
      showInBrowser(refused, { env })
    const address = "https://x.example/auth?a=$(id)&b='`"
    showInBrowser(address, { env })
    while ((await next).value?.filename !== 'opened') next = changes.next()
    await changes.return?.()
    assert.equal(await readFile(join(folder.path, 'opened'), 'utf8'), `${address}\n`)
  } finally {
    process.env.PATH = PATH
  }
})
