import assert from 'node:assert/strict'
import { chmod, copyFile, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { main } from '../../../../presets/default/main.ts'
import { authorizationServer } from '../../../kit/authorization-server.ts'
import { logInByForms } from '../../../kit/form-browser.ts'
import { guardedMcpServer } from '../../../kit/guarded-mcp-server.ts'
import { fakeIo } from '../../../kit/io.ts'
import { loginService } from './kit.ts'

const KEY = 'guard_test_key_that_is_long_enough'

/** A folder for commands, with this configuration. */
const commandFolder = async (opened: AsyncDisposableStack, config: string): Promise<string> => {
  const { path } = opened.use(await mkdtempDisposable(join(tmpdir(), 'guard-login-command-')))
  await writeFile(join(path, 'guard-config.yml'), `gateway_key: ${KEY}\n${config}`, { mode: 0o600 })
  return path
}

const told = async (cwd: string, ...words: readonly string[]) => {
  const io = fakeIo({ cwd, env: { CI: '1' } })
  const code = await main(words, io)
  return { code, out: io.outText(), err: io.errText() }
}

const addressIn = (text: string): string => /^http\S+\/auth\?\S+$/m.exec(text)?.[0] ?? assert.fail(text)

const redirectOf = (address: string): string => new URL(address).searchParams.get('redirect_uri') ?? ''

describe('guard mcp login', () => {
  it('waits for the browser, and the gateway that runs has the login', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened)
    const cwd = await commandFolder(opened, `server: { port: ${new URL(service.gateway.url).port} }\n`)
    const before = await told(cwd, 'mcp', 'login')
    assert.match(before.out, /docs +needed +nobody has logged in/)

    const io = fakeIo({ cwd, env: { CI: '1' } })
    const running = main(['mcp', 'login', 'docs'], io)
    await io.errHolds('/auth?')
    const address = addressIn(io.errText())
    const redirect = redirectOf(address)
    // pages of other sites do not end the wait
    for (const path of ['?code=x&state=y', '/other', '']) assert.equal((await fetch(redirect + path)).status, 404, path)
    const stranger = await fetch(redirect, { method: 'POST' })
    assert.equal(stranger.status, 404)
    const shown = await fetch(await logInByForms(address, redirect))
    assert.match(await shown.text(), /You are logged in\. You can close this page\./)
    assert.equal(shown.headers.get('referrer-policy'), 'no-referrer')
    assert.equal(await running, 0, io.errText())
    assert.match(io.outText(), /^logged in {2}docs {2}at http:\S+, renewed by itself\n$/)
    assert.equal(await service.call(await service.session()), 'whoami ran')
    await assert.rejects(fetch(redirect), 'nobody listens any more')

    assert.match((await told(cwd, 'mcp', 'login')).out, /docs +ok +at http:\S+, renewed by itself/)
    assert.equal((await told(cwd, 'mcp', 'logout', 'docs')).out, 'logged out\n')
    assert.equal((await told(cwd, 'mcp', 'logout', 'docs')).out, 'there was no login\n')
  })

  it('shows the browser and the terminal why it failed', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened)
    const cwd = await commandFolder(opened, `server: { port: ${new URL(service.gateway.url).port} }\n`)
    const io = fakeIo({ cwd, env: { CI: '1' } })
    const running = main(['mcp', 'login', 'docs'], io)
    await io.errHolds('/auth?')
    const { searchParams } = new URL(addressIn(io.errText()))
    const iss = encodeURIComponent(service.authorization.issuer)
    const denied = `?error=access_denied&error_description=%3Cb%3E&iss=${iss}&state=${searchParams.get('state')}`
    const shown = await (await fetch(searchParams.get('redirect_uri') + denied)).text()
    assert.match(shown, /answered with the error access_denied \(in its words: &quot;&lt;b&gt;&quot;\)/)
    assert.notEqual(await running, 0)
    assert.match(io.errText(), /error access_denied \(in its words: "<b>"\)/)
  })

  it('works without a gateway that runs and without a browser here, with the address that is pasted', async () => {
    await using opened = new AsyncDisposableStack()
    const authorization = opened.use(await authorizationServer())
    const server = opened.use(await guardedMcpServer(authorization))
    const servers = `docs: { target: "${server.url}", login: {} }, open: { target: "${server.url}" }`
    const cwd = await commandFolder(opened, `server: { port: 1 }\nmcp: { servers: { ${servers} } }\n`)
    const input = new PassThrough()
    const io = { ...fakeIo({ cwd, env: { CI: '1' } }), in: input }
    const running = main(['mcp', 'login', 'docs', '--no-browser'], io)
    await io.errHolds('Paste that address here')
    const address = addressIn(io.errText())
    input.write(`${await logInByForms(address, redirectOf(address))}\n`)
    assert.equal(await running, 0, io.errText())
    assert.match((await told(cwd, 'mcp', 'login')).out, /docs +ok/)
    assert.match((await told(cwd, 'doctor')).out, /logged in at MCP server docs \(http:\S+, renewed by itself\)/)
    await chmod(join(cwd, 'guard.db.login-key'), 0o644)
    assert.match((await told(cwd, 'doctor')).out, /guard\.db\.login-key can be read by others.*\n.*chmod 600/)
    assert.match((await told(cwd, 'mcp', 'login', 'open')).err, /mcp\.servers\.open has no key "login"/)
    const off = await told(cwd, 'mcp', 'login', 'open', '--json')
    assert.match(off.err, /MCP_LOGIN_OFF/)

    // the rows go along with copies of the database, the key does not
    assert.equal((await told(cwd, 'storage', 'backup', 'backup.db')).code, 0)
    assert.equal((await told(cwd, 'storage', 'copy', '--from', 'guard.db', '--to', 'copy.db')).code, 0)
    const config = await readFile(join(cwd, 'guard-config.yml'), 'utf8')
    for (const [file, key, done] of [
      ['backup.db', false, /^logged out here; the authorization server was not told\n$/],
      ['copy.db', true, /^logged out\n$/],
    ] as const) {
      if (key) await copyFile(join(cwd, 'guard.db.login-key'), join(cwd, `${file}.login-key`))
      await writeFile(join(cwd, 'guard-config.yml'), `${config}storage: { file: ${file} }\n`)
      assert.match((await told(cwd, 'mcp', 'login')).out, /docs +ok/)
      assert.match((await told(cwd, 'mcp', 'logout', 'docs')).out, done)
    }
    await writeFile(join(cwd, 'guard-config.yml'), config)
    assert.equal((await told(cwd, 'mcp', 'logout', 'docs')).code, 0)
    assert.match((await told(cwd, 'doctor')).out, /MCP server docs needs a login\n.*guard mcp login docs/)
  })
})
