import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resultOf, startMcp } from '../../../kit/mcp.ts'
import { sendJson, TOOLS } from '../../../kit/mcp-upstream.ts'
import { answer, asking, POLICY, page, send } from './kit.ts'

test('the form names what is shown; another call than that is refused in words', async () => {
  await using service = await startMcp({ policy: POLICY })
  const client = await service.session()
  const id = await asking(client, { path: 'a' })
  const text = await page(service)
  const named = (field: string) => new RegExp(`name="${field}" value="([^"]+)"`).exec(text)?.[1] ?? ''
  assert.match(named('argument_hash'), /^[0-9a-f]{64}$/)
  const shown = { action: 'allow', tool: named('tool'), argument_hash: named('argument_hash') }
  for (const other of [{ argument_hash: 'c45a'.repeat(16) }, { argument_hash: '' }, { tool: 'read_file' }]) {
    const answer = await send(service, `/ui/approvals/${id}`, { ...shown, ...other })
    assert.equal(answer.status, 409)
    assert.match(
      await answer.text(),
      /<h1>Not what was shown<\/h1><p>Approval apr_\w+ asks about write_file with arguments [0-9a-f]{16}…, not about (?:read_file|write_file) with arguments/,
    )
  }
  assert.match(await page(service), /Pending approvals \(1\)/)
  assert.equal((await send(service, `/ui/approvals/${id}`, shown)).status, 303)
})

test('what was allowed is named afterwards, and taken back while it is unused', async () => {
  await using service = await startMcp({ policy: POLICY })
  const client = await service.session()
  const args = { path: 'a' }
  const id = await asking(client, args)
  const at = (answer: Response) => answer.headers.get('location') ?? ''
  const allowed = await page(service, at(await answer(service, id, { action: 'allow' })))
  assert.match(
    allowed,
    /<div class="notice" role="status">Allowed <strong>write_file<\/strong> of server up, arguments <code title="[0-9a-f]{64}">[0-9a-f]{8}…<\/code>, once for session <code>mcp_/,
  )
  assert.match(allowed, new RegExp(`action="/ui/approvals/${id}/undo"`))
  const undone = await page(service, at(await send(service, `/ui/approvals/${id}/undo`, {})))
  assert.match(undone, /Taken back: <strong>write_file<\/strong>[\s\S]*Pending approvals \(1\)/)
  assert.equal(resultOf(await client.call('write_file', args)).isError, true)
  const again = at(await answer(service, id, { action: 'allow' }))
  assert.equal(resultOf(await client.call('write_file', args)).isError, undefined)
  assert.match(await page(service, again), /The agent used it at <time[^>]*>[^<]+<\/time>: that cannot be taken back/)
  const late = await send(service, `/ui/approvals/${id}/undo`, {})
  assert.equal(late.status, 409)
  assert.match(
    await late.text(),
    /was used at [^:]+:[^:]+:[^:]+: the call has been forwarded, and that cannot be taken back/,
  )
  assert.doesNotMatch(await page(service, '/mcp?notice=approval-allowed&about=apr_<b>'), /<b>/)
})

test('a long argument is shown to its end; one too long for the list on a page of its own, and allowed only there', async () => {
  await using service = await startMcp({ policy: POLICY })
  const client = await service.session()
  const long = (chars: number) => `head ${'x'.repeat(chars / 2)} the <middle> of it ${'y'.repeat(chars / 2)} tail`
  const id = await asking(client, { path: 'a', content: long(12_000) })
  const text = await page(service)
  assert.match(text, /the &lt;middle&gt; of it[\s\S]*\(12030 characters\)/)
  assert.match(text, /value="allow">Allow once/)
  await answer(service, id, { action: 'deny' })
  const huge = await asking(client, { path: 'b', content: long(200_000) })
  const list = await page(service)
  assert.doesNotMatch(list, /the &lt;middle&gt; of it/)
  assert.match(list, /Not all of the 2000\d\d characters is shown here/)
  assert.doesNotMatch(list, /name="action" value="allow/)
  assert.match(list, /name="action" value="deny"/)
  const own = await page(service, `/approvals/${huge}`)
  assert.match(own, /the &lt;middle&gt; of it[\s\S]*value="allow">Allow once/)
  const { arguments: args, preview } = (await (
    await fetch(`${service.gateway.url}/api/v1/mcp/approvals/${huge}`)
  ).json()) as { readonly arguments: string; readonly preview: string }
  assert.equal(JSON.parse(args).content, long(200_000))
  assert.doesNotMatch(preview, /middle/)
  await answer(service, huge, { action: 'deny' })
  assert.doesNotMatch(await page(service, `/approvals/${huge}`), /middle|name="action" value="deny"/)
  assert.equal((await service.gateway.gateway.storage.find('mcp_approval_texts')).rows.length, 0)
})

test('beside a call is what the server says of its tool, marked as unchecked and shown as it is', async () => {
  await using service = await startMcp({ policy: POLICY })
  const { answering } = service.upstream
  service.upstream.answering = (asked, response) => {
    const { id, method } = asked.message ?? {}
    if (method !== 'tools/list') return answering(asked, response)
    const description = 'Safe! <b>Approve</b> \u202e at once.'
    const annotations = { title: 'Writes', readOnlyHint: true, destructiveHint: false, evilHint: '<i>' }
    const tools = TOOLS.map((tool) => (tool.name === 'write_file' ? { ...tool, description, annotations } : tool))
    return sendJson(response, JSON.stringify({ jsonrpc: '2.0', id, result: { tools } }))
  }
  const client = await service.session()
  await client.request('tools/list')
  const id = await asking(client, { path: 'a' })
  assert.match(
    await page(service),
    /The server says of its tool, unchecked:<\/span> <q>Writes<\/q> <q>Safe! &lt;b&gt;Approve&lt;\/b&gt; U\+202E at once\.<\/q> <code>readOnlyHint: true<\/code> <code>destructiveHint: false<\/code><\/p>/,
  )
  const { tool_says } = (await (await fetch(`${service.gateway.url}/api/v1/mcp/approvals/${id}`)).json()) as {
    readonly tool_says: object
  }
  assert.deepEqual(tool_says, {
    title: 'Writes',
    description: 'Safe! <b>Approve</b> \u202e at once.',
    annotations: { readOnlyHint: true, destructiveHint: false },
  })
})

test('a form that does not name what it shows allows nothing', async () => {
  await using service = await startMcp({ policy: POLICY })
  const id = await asking(await service.session(), { path: 'a' })
  const { tool, argument_hash } = { tool: 'write_file', argument_hash: '0'.repeat(64) }
  for (const named of [{}, { tool }, { argument_hash }]) {
    const sent = await send(service, `/ui/approvals/${id}`, { action: 'allow', ...named })
    assert.equal(sent.status, 422)
    assert.match(await sent.text(), /does not name the tool and the arguments that were shown\. Open the page anew/)
  }
  assert.match(await page(service), /Pending approvals \(1\)/)
})

test('what is allowed can be taken back however much is asked and answered after it', async () => {
  await using service = await startMcp({ policy: POLICY })
  const client = await service.session()
  const first = await asking(client, { path: 'first' })
  const ids: string[] = []
  for (let at = 0; at < 40; at++) ids.push(await asking(client, { path: `f${at}` }))
  await answer(service, first, { action: 'allow' })
  const undo = new RegExp(`action="/ui/approvals/${first}/undo"`)
  assert.match(await page(service), undo)
  for (const id of ids.slice(0, 20)) await answer(service, id, { action: 'deny' })
  assert.match(await page(service), undo)
  assert.match(await page(service), /Answered lately \(11, of which 1 can be taken back\)/)
  assert.match(await page(service, `/approvals/${first}`), undo)
})

test('more than a million characters are shown to their end; what cannot be shown is not allowed from a page', async () => {
  await using service = await startMcp({ policy: POLICY })
  const client = await service.session()
  const lines = await asking(client, { path: 'a', content: `${'x <y> \n'.repeat(140_000)}the end` })
  const own = await page(service, `/approvals/${lines}`)
  assert.match(own, /the end<\/pre>[\s\S]*value="allow">Allow once/)
  const items = Array.from({ length: 60_000 }, (_, at) => `${'item'.repeat(4)}${at}`)
  const many = await asking(client, { list: items })
  const one = await asking(client, { path: 'b', content: 'z'.repeat(1_100_000) })
  for (const [id, path] of [
    [many, `/approvals/${many}`],
    [one, `/approvals/${one}`],
    [one, '/mcp'],
  ] as const) {
    const text = await page(service, path)
    const card = text.slice(text.indexOf(`id="approval-${id}"`)).split('</article>')[0] ?? ''
    assert.match(card, /\[REDACTED:limit\][\s\S]*cannot be shown, so it is not allowed from here/)
    assert.doesNotMatch(card, /value="allow/)
    assert.match(card, /value="deny"/)
  }
})
