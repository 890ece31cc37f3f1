import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ImportAnswer } from '../../../../plugins/replay/import/import.ts'
import { type Started, startGateway } from '../../../kit/gateway.ts'

const run = (trace_id: string): string => JSON.stringify({ schema: 'trace.v1', run: { trace_id, status: 'ok' } })

interface Sent {
  readonly status: number
  readonly location: string | null
  readonly code: string | undefined
  readonly answer: ImportAnswer
}

describe('a form with an import file', () => {
  let gateway: Started
  before(async () => {
    gateway = await startGateway({ config: 'replay: { max_import_bytes: 65536 }' })
  })
  after(() => gateway.close())

  const post = async (path: string, body: FormData | string, headers: Record<string, string> = {}): Promise<Sent> => {
    const reply = await fetch(gateway.url + path, { method: 'POST', body, headers, redirect: 'manual' })
    const text = await reply.text()
    const answer = text.startsWith('{') ? JSON.parse(text) : {}
    return { status: reply.status, location: reply.headers.get('location'), code: answer.error?.code, answer }
  }
  const form = (content: string, fields: Readonly<Record<string, string>> = {}, name = 'file'): FormData => {
    const sent = new FormData()
    for (const [key, value] of Object.entries(fields)) sent.set(key, value)
    sent.set(name, new Blob([content]), 'run.json')
    return sent
  }
  const API = '/api/v1/runs/import'
  const UI = '/ui/runs/import'
  const browser = { accept: 'text/html,application/xhtml+xml' }

  it('imports like the plain file, with options as fields', async () => {
    const first = await post(API, form(run('formed'), { project_id: 'mine' }))
    assert.equal(first.status, 201)
    assert.equal(first.answer.imported[0]?.trace_id, 'formed')
    const again = await post(API, form(run('formed'), { on_conflict: 'skip' }))
    assert.deepEqual([again.status, again.answer.skipped.length], [200, 1])
    const failed = await post(`${API}?on_conflict=fail`, form(run('formed')))
    assert.deepEqual([failed.status, failed.code], [409, 'TRACE_EXISTS'])
    const { json } = await gateway.request('GET', '/api/v1/runs?project_id=mine')
    assert.equal((json as { runs: unknown[] }).runs.length, 1)
  })

  it('redirects a browser with 303, and returns JSON to a program', async () => {
    const shown = await post(UI, form(run('seen')), browser)
    assert.deepEqual([shown.status, shown.location], [303, '/replay?notice=runs-imported'])
    const back = await post(UI, form(run('seen'), { on_conflict: 'skip', return_to: '/replay?q=a#top' }), browser)
    assert.deepEqual([back.status, back.location], [303, '/replay?q=a&notice=runs-skipped#top'])
    for (const odd of ['//evil.example', '/\\evil.example', 'https://evil.example', '/a\nb']) {
      const { location } = await post(UI, form(run('seen'), { on_conflict: 'skip', return_to: odd }), browser)
      assert.equal(location, '/replay?notice=runs-skipped', odd)
    }
    const { location } = await post(UI, form(run('seen'), { on_conflict: 'skip', return_to: '/..//evil' }), browser)
    assert.equal(location, '/..//evil?notice=runs-skipped')
    const told = await post(UI, form(run('told')))
    assert.deepEqual([told.status, told.answer.imported[0]?.trace_id], [200, 'told'])
  })

  it('returns to a browser with its values, line and path of the error', async () => {
    const page = async (body: FormData): Promise<readonly [number, string]> => {
      const reply = await fetch(gateway.url + UI, { method: 'POST', body, headers: browser, redirect: 'manual' })
      assert.match(reply.headers.get('content-security-policy') ?? '', /default-src 'none'/)
      return [reply.status, await reply.text()]
    }
    const lines = '{"schema":"trace.v1",\n"run":{"trace_id":7}}'
    const [status, text] = await page(form(lines, { on_conflict: 'skip', project_id: 'mine <b>' }))
    assert.equal(status, 422)
    assert.match(text, /<option value="skip" selected>/)
    assert.match(text, /name="project_id" placeholder="as the file says" value="mine &lt;b&gt;" aria-invalid="true">/)
    assert.match(text, /<a href="#field-project_id">&quot;project_id&quot; must be 1 to 128/)
    const [again, wrong] = await page(form(lines, { on_conflict: 'fail', project_id: 'mine' }))
    assert.equal(again, 422)
    assert.match(wrong, /<a href="#field-file">Line 2, \/run\/trace_id: /)
    assert.match(wrong, /<dt>Line<\/dt><dd>2<\/dd><dt>Path<\/dt><dd><code>\/run\/trace_id<\/code>/)
    assert.match(wrong, /<code>run\.json<\/code>/)
    assert.match(wrong, /<option value="fail" selected>/)
    assert.match(wrong, /value="mine">/)
    const [large, told] = await page(form('x'.repeat(70_000), { project_id: 'large' }))
    assert.equal(large, 422)
    assert.match(told, /value="large">[\s\S]*aria-invalid="true"/)
    const { json } = await gateway.request('GET', '/api/v1/runs?project_id=mine')
    assert.deepEqual(
      (json as { runs: { trace_id: string }[] }).runs.map(({ trace_id }) => trace_id),
      ['formed'],
    )
  })

  it('is rejected without a file, when too large, or with unknown fields', async () => {
    const refusals: readonly (readonly [string | FormData, number, string, Record<string, string>?])[] = [
      [form(run('odd'), {}, 'other'), 400, 'INVALID_IMPORT'],
      [form(''), 400, 'INVALID_IMPORT'],
      [form(run('odd'), { on_conflict: 'x' }), 400, 'INVALID_FILTER'],
      [form(run('odd'), { mode: 'x' }), 400, 'UNKNOWN_FILTER'],
      [form('x'.repeat(70_000)), 413, 'BODY_TOO_LARGE'],
      [form('no export file'), 400, 'INVALID_IMPORT'],
      ['--x\r\nbroken', 400, 'INVALID_BODY', { 'content-type': 'multipart/form-data; boundary=x' }],
      [form(run('odd')), 415, 'UNSUPPORTED_ENCODING', { 'content-encoding': 'gzip' }],
    ]
    for (const [body, status, code, headers] of refusals) {
      const refused = await post(API, body, headers)
      assert.deepEqual([refused.status, refused.code], [status, code])
    }
    const two = form(run('odd'))
    two.append('file', new Blob([run('odd')]), 'second.json')
    assert.equal((await post(API, two)).code, 'INVALID_BODY')
    assert.equal((await post(UI, run('odd'), { 'content-type': 'application/json' })).status, 415)
    assert.equal((await gateway.request('GET', '/api/v1/runs/odd')).status, 404)
  })

  it('from another site imports nothing', async () => {
    for (const path of [API, UI]) {
      const { status, code } = await post(path, form(run('forged')), { origin: 'http://evil.example' })
      assert.deepEqual([status, code], [403, 'ORIGIN_NOT_ALLOWED'])
    }
    assert.equal((await gateway.request('GET', '/api/v1/runs/forged')).status, 404)
  })
})
