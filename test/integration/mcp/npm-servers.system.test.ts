import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runServer } from '../../kit/mcp-proxy.ts'
import { type SdkClient, type SdkResult, sdkClient } from '../../kit/mcp-sdk.ts'

const root = join(import.meta.dirname, '../../..')
const server = (name: string): string => join(root, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`)
const ALLOW = 'version: 1\ndefault: allow\nrules: []\n'

const said = ({ content }: SdkResult): string => content.map(({ text }) => text).join()

/** Opens a client, and ends it before what is behind it goes away. */
const using = async (opened: AsyncDisposableStack, way: Parameters<typeof sdkClient>[1]): Promise<SdkClient> =>
  opened.adopt(await sdkClient('v1', way), (client) => client.close())

describe('servers from npm under guard mcp run', { concurrency: 2, timeout: 300_000 }, () => {
  it('server-filesystem with filesystem-official.yml: reads inside, asks before it writes, keeps secrets', async () => {
    await using opened = new AsyncDisposableStack()
    const policy = await readFile(join(root, 'presets/mcp-policies/filesystem-official.yml'), 'utf8')
    const proxied = await runServer(opened, policy, (folder) => [process.execPath, server('filesystem'), folder])
    const path = (name: string): string => join(proxied.folder, name)
    await mkdir(path('notes'))
    await writeFile(path('notes/a.txt'), 'inside')
    await writeFile(path('.env'), 'SECRET=1')
    const client = await using(opened, proxied.way)
    assert.ok((await client.list()).includes('write_file'))
    assert.equal(said(await client.call('read_text_file', { path: path('notes/a.txt') })), 'inside')
    assert.match(said(await client.call('list_directory', { path: path('notes') })), /a\.txt/)
    for (const outside of ['/etc/passwd', path('../x'), path('.env')])
      assert.match(said(await client.call('read_text_file', { path: outside })), /^Denied by rule 'fs\.read'/)

    const written = { path: path('notes/b.txt'), content: 'new' }
    const asked = await client.call('write_file', written)
    assert.match(said(asked), /Changes .*b\.txt/)
    await assert.rejects(readFile(written.path), { code: 'ENOENT' })
    await proxied.allow(String(asked.structuredContent?.approval_id))
    assert.match(said(await client.call('write_file', written)), /Successfully wrote/)
    assert.equal(await readFile(written.path, 'utf8'), 'new')
  })

  it('server-memory: keeps what it is told', async () => {
    await using opened = new AsyncDisposableStack()
    const proxied = await runServer(
      opened,
      ALLOW,
      () => [process.execPath, server('memory')],
      (folder) => ({ MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }),
    )
    const client = await using(opened, proxied.way)
    await client.list()
    const entities = [{ name: 'Ann', entityType: 'person', observations: ['writes tests'] }]
    assert.notEqual((await client.call('create_entities', { entities })).isError, true)
    const { structuredContent } = await client.call('read_graph')
    assert.deepEqual(structuredContent?.entities, entities)
    assert.match(await readFile(join(proxied.folder, 'memory.jsonl'), 'utf8'), /writes tests/)
  })

  it('server-everything: sums, structures, progress and questions', async () => {
    await using opened = new AsyncDisposableStack()
    const proxied = await runServer(opened, ALLOW, () => [process.execPath, server('everything'), 'stdio'])
    const client = await using(opened, proxied.way)
    const tools = await client.list()
    assert.ok(tools.length >= 10, tools.join())
    assert.match(said(await client.call('echo', { message: 'hé' })), /hé/)
    assert.match(said(await client.call('get-sum', { a: 2, b: 40 })), /42/)
    const { structuredContent } = await client.call('get-structured-content', { location: 'New York' })
    assert.equal(typeof structuredContent?.temperature, 'number')
    await client.call('trigger-long-running-operation', { duration: 0.2, steps: 2 }, { onprogress: () => {} })
    assert.equal(client.progress[0], 1)
    assert.match(said(await client.call('trigger-sampling-request', { prompt: 'x', maxTokens: 5 })), /sampled/)
    assert.match(said(await client.call('trigger-elicitation-request')), /accept/i)
  })
})
