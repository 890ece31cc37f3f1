import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { command } from 'guard-gateway/plugins/notifiers/command'
import { aNotification, connected, notifierConforms } from 'guard-gateway/test'

const node = process.execPath
/** Appends what it reads to the file that it is given. */
const WRITES = `const{appendFileSync,readFileSync}=require('fs');appendFileSync(process.argv[1],readFileSync(0))`

const folderFor = async (): Promise<string> => mkdtemp(join(tmpdir(), 'guard-command-'))

notifierConforms(command, {
  start: async () => {
    const folder = await folderFor()
    const file = join(folder, 'lines')
    await writeFile(file, '')
    return {
      options: { command: [node, '-e', WRITES, file] },
      messages: async () => (await readFile(file, 'utf8')).split('\n').filter((line) => line !== ''),
      close: () => rm(folder, { recursive: true, force: true }),
    }
  },
})

const run = (code: string, more = {}, signal = new AbortController().signal, ...args: string[]) =>
  connected(command, { command: [node, '-e', code, ...args] }).send(aNotification(more), signal)

const aFile = async (test: TestContext): Promise<string> => {
  const folder = await folderFor()
  test.after(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'file')
}

describe('a command', () => {
  it('gets the notification as JSON and in its environment, and nothing of it is run', async (test) => {
    const file = await aFile(test)
    const text = `$(touch ${file}.evil) \`touch ${file}.evil\` ; touch ${file}.evil #"'`
    const code = `require('fs').writeFileSync(process.argv[1],JSON.stringify([JSON.parse(require('fs').readFileSync(0)),process.env]))`
    assert.deepEqual(await run(code, { text, project_id: null }, undefined, file), { outcome: 'delivered' })
    const [said, env] = JSON.parse(await readFile(file, 'utf8'))
    assert.deepEqual(said, aNotification({ text, project_id: null }))
    assert.equal(env.GUARD_NOTIFY_TEXT, text)
    assert.equal(env.GUARD_NOTIFY_EVENT, 'blocked')
    assert.equal(env.GUARD_NOTIFY_PROJECT, '')
    assert.equal(env.HOME, undefined)
    await assert.rejects(readFile(`${file}.evil`), { code: 'ENOENT' })
  })
  it('gets what its entry names, too', async () => {
    const send = connected(command, {
      command: [node, '-e', `process.exit(process.env.PAGER_ROOM === 'ops' ? 0 : 1)`],
      env: { PAGER_ROOM: 'ops' },
    })
    assert.deepEqual(await send.send(aNotification(), new AbortController().signal), { outcome: 'delivered' })
  })
  it('says by its exit code what became of it', async () => {
    assert.deepEqual(await run('process.exit(0)'), { outcome: 'delivered' })
    assert.deepEqual(await run('console.error("no modem");process.exit(75)'), {
      outcome: 'retryable',
      error: 'It ended with 75: no modem.',
    })
    assert.deepEqual(await run('process.exit(1)'), { outcome: 'rejected', error: 'It ended with 1.' })
    const missing = await connected(command, { command: ['/no/such/program'] }).send(
      aNotification(),
      new AbortController().signal,
    )
    assert.deepEqual(missing, { outcome: 'rejected', error: 'It cannot be started (ENOENT).' })
  })
  it('that hangs is ended, and so is what it started', { skip: process.platform === 'win32' }, async (test) => {
    const file = await aFile(test)
    const code = `const c=require('child_process').spawn(process.execPath,['-e','setInterval(()=>{},1e6)']);require('fs').writeFileSync(process.argv[1]+'.tmp',String(c.pid));require('fs').renameSync(process.argv[1]+'.tmp',process.argv[1]);setInterval(()=>{},1e6)`
    const stop = new AbortController()
    const sent = run(code, {}, stop.signal, file)
    let pid = ''
    while (pid === '') {
      pid = await readFile(file, 'utf8').catch(() => '')
      await new Promise(setImmediate)
    }
    stop.abort()
    assert.deepEqual(await sent, { outcome: 'retryable', error: 'It was ended by SIGKILL.' })
    while (await isRunning(pid)) await new Promise(setImmediate)
  })
  it('that reads nothing and one that says a lot are no trouble', async () => {
    const text = 'x'.repeat(200_000)
    assert.equal(
      (await run('process.stdin.destroy();process.exit(0)', { text: text.slice(0, 50_000) })).outcome,
      'delivered',
    )
    const { error } = (await run(`process.stderr.write('y'.repeat(1e6),()=>process.exit(1))`)) as { error: string }
    assert.ok(error.length < 300, String(error.length))
  })
})

/** Alive, and no zombie that nobody has waited for. */
const isRunning = async (pid: string): Promise<boolean> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat !== '' && !/\) [ZX] /.test(stat)
}
