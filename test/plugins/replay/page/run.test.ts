import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { at, type PageBench, partOf, rowIds, startPages, textOf } from './kit.ts'

let bench: PageBench
before(async () => {
  bench = await startPages()
  await bench.trace({
    trace_id: 'fix',
    project_id: 'demo',
    name: 'fix-bug',
    agent_name: 'coder',
    tags: ['nightly'],
    status: 'error',
    spans: [
      {
        id: 'top',
        name: 'agent.run',
        start_ns: at(0),
        end_ns: at(10_000),
        spans: [
          {
            id: 'ask',
            name: 'gen_ai.request',
            start_ns: at(0),
            end_ns: at(2_500),
            attributes: { model: 'small-model' },
          },
          {
            id: 'test',
            name: 'command.exec',
            start_ns: at(4_000),
            end_ns: at(6_000),
            status: 'error',
            status_message: '2 tests failed',
            attributes: {
              'guard.note': 'ours',
              command: 'npm test',
              exit_code: 1,
              report: 'https://example.com/report?id=1',
              script: 'javascript:alert(1)',
              output: 'line\n'.repeat(30),
            },
            events: [
              {
                id: 'denied',
                name: 'policy.decision',
                time_ns: at(4_500),
                attributes: { decision: 'deny', reason_code: 'NO_NETWORK', rule_id: 'no-network' },
              },
            ],
            spans: [
              {
                id: 'deep',
                name: 'tool.call',
                start_ns: at(5_000),
                end_ns: at(5_000),
                attributes: { 'tool.name': 'curl' },
              },
            ],
          },
        ],
      },
    ],
    artifacts: [{ path: 'out/report.md', mime_type: 'text/markdown', size: 2_100, sha256: 'ab'.repeat(32) }],
  })
})
after(() => bench.close())

test('the head shows status, failure, cost and actions', async () => {
  const text = await bench.page('/replay/fix')
  assert.equal(text.match(/<h1/g)?.length, 1)
  const head = textOf(text.slice(text.indexOf('<h1>'), text.indexOf('Timeline')))
  assert.match(head, /^fix-bug ✕ error · policy_block ← NO_NETWORK at command\.exec#1/)
  assert.match(head, /Export json jsonl otel 10\.0 s · 0 tokens/)
  assert.match(head, /Tags: nightly/)
  for (const format of ['json', 'jsonl', 'otel'])
    assert.ok(text.includes(`href="/api/v1/runs/fix/export?format=${format}" download`))
})

test('the failure evidence is selected by default, any other span by address', async () => {
  assert.match(
    textOf(partOf(await bench.page('/replay/fix'), 'details')),
    /^C command\.exec#1 npm test ✕ error · 2\.0 s · from 4\.0 s 2 tests failed Events \(1\) \+4\.5 s policy\.decision deny · NO_NETWORK · rule no-network · as the client says/,
  )
  const asked = await bench.page('/replay/fix?span=ask')
  assert.match(asked, /<tr id="span-ask" data-row class="model chosen/)
  assert.match(textOf(partOf(asked, 'details')), /^M gen_ai\.request#1 small-model ✓ ok/)
})

test('rows are in tree order, with bars at their times', async () => {
  const text = await bench.page('/replay/fix')
  assert.deepEqual(rowIds(text), ['span-top', 'span-ask', 'span-test', 'span-deep'])
  const bar = (id: string) => {
    const [, x, width] = /<rect x="([\d.]+)%" width="([\d.]+)%"/.exec(partOf(text, `span-${id}`)) ?? []
    return [Number(x), Number(width)]
  }
  assert.deepEqual(bar('top'), [0, 100])
  assert.deepEqual(bar('ask'), [0, 25])
  assert.deepEqual(bar('test'), [40, 20])
  assert.deepEqual(bar('deep'), [50, 0.01])
  assert.match(partOf(text, 'span-ask'), /aria-label="starts at 0 ns, lasts 2\.5 s, ok"/)
  assert.match(partOf(text, 'span-test'), /◆ deny<\/text>/)
})

test('zoom shows the rows of a range with their parents, and links to zoom in, out and reset', async () => {
  const text = await bench.page('/replay/fix?from=4000000000&to=8000000000')
  assert.match(partOf(text, 'span-test'), /<rect x="0\.00%" width="50\.00%"/)
  assert.deepEqual(rowIds(text), ['span-top', 'span-test', 'span-deep'])
  assert.match(text, /href="\?from=5000000000&amp;to=7000000000" data-key="\+"/)
  assert.match(text, /href="\?from=2000000000&amp;to=10000000000" data-key="-"/)
  assert.match(text, /href="\?" data-key="0"/)
})

test('zoom centres on the selected span if it is visible', async () => {
  const chosen = await bench.page('/replay/fix?span=ask')
  assert.match(chosen, /href="\?span=ask&amp;from=0&amp;to=5000000000" data-key="\+"/)
  const unseen = await bench.page('/replay/fix?span=ask&from=4000000000&to=8000000000')
  assert.match(unseen, /href="\?span=ask&amp;from=5000000000&amp;to=7000000000" data-key="\+"/)
})

test('the views of a run retain the selection', async () => {
  const text = await bench.page('/replay/fix?span=ask&after=0')
  assert.match(text, /<a href="\?span=ask" aria-current="true">Timeline<\/a>/)
  assert.match(text, /<a href="\?span=ask&amp;view=events">Events/)
})

test('closed rows hide their descendants, except the selected one', async () => {
  const closed = await bench.page('/replay/fix?closed=test&span=ask')
  assert.deepEqual(rowIds(closed), ['span-top', 'span-ask', 'span-test'])
  assert.match(partOf(closed, 'span-test'), /class="fold" href="\?span=test#span-test" aria-expanded="false"/)
  assert.deepEqual(rowIds(await bench.page('/replay/fix?closed=test&span=deep')).at(-1), 'span-deep')
  assert.deepEqual(rowIds(await bench.page('/replay/fix?open=-&span=top')), ['span-top', 'span-ask', 'span-test'])
  assert.deepEqual(rowIds(await bench.page('/replay/fix?open=test&span=top')).at(-1), 'span-deep')
})

test('search dims other spans, selects the first match and links to the next', async () => {
  const text = await bench.page('/replay/fix?find=CURL')
  assert.match(text, /<tr id="span-deep" data-row class="tool chosen/)
  assert.match(text, /<tr id="span-ask" data-row class="model critical dim"/)
  assert.match(textOf(partOf(text, 'tools')), /1 of 1/)
  const two = await bench.page('/replay/fix?kind=tool&kind=model&span=ask')
  assert.match(textOf(partOf(two, 'tools')), /1 of 2/)
  assert.match(two, /span=deep#span-deep" data-key="n"/)
  assert.match(two, /span=deep#span-deep" data-key="b"/)
})

test('the critical path is marked', async () => {
  const text = await bench.page('/replay/fix')
  assert.match(text, /<tr id="span-test" data-row class="command chosen critical failed"/)
  assert.match(text, /<tr id="span-ask" data-row class="model critical"/)
})

test('details show attributes as text, the gateway’s last, with links and folded long values', async () => {
  const details = partOf(await bench.page('/replay/fix'), 'details')
  assert.match(details, /<a href="https:\/\/example\.com\/report\?id=1" rel="noopener noreferrer" target="_blank">/)
  assert.match(details, /<span class="text">javascript:alert\(1\)<\/span>/)
  assert.match(details, /<details><summary class="text">line\n(?:line\n)+line…<\/summary>/)
  assert.ok(details.indexOf('>guard.<wbr>note<') > details.indexOf('>script<'))
})

test('a script fetches only the details', async () => {
  const text = await bench.page('/replay/fix?span=ask&part=details')
  assert.deepEqual(rowIds(text), [])
  assert.match(textOf(partOf(text, 'details')), /^M gen_ai\.request#1/)
  assert.doesNotMatch(text, /href="[^"]*part=/)
})

test('events, files and the raw bundle have their own views', async () => {
  assert.match(
    textOf(await bench.page('/replay/fix?view=events')),
    /\+4\.5 s policy\.decision deny · NO_NETWORK · rule no-network · as the client says command\.exec#1/,
  )
  const files = await bench.page('/replay/fix?view=artifacts')
  assert.match(
    files,
    /<code>out\/report\.md<\/code><\/th><td>text\/markdown<\/td><td class="figure"><span title="2100 bytes">2\.1 kB/,
  )
  assert.match(await bench.page('/replay/fix?view=raw'), /&quot;schema&quot;: &quot;trace\.v1&quot;/)
})

test('a missing run has an error page', async () => {
  assert.match(await bench.page('/replay/none', 404), /There is no run &quot;none&quot;/)
})

test('a running run has no end yet', async () => {
  await bench.trace({ trace_id: 'going', status: 'running', spans: [{ id: 'on', name: 'step', status: 'running' }] })
  const text = await bench.page('/replay/going')
  assert.match(text, /data-live="going"/)
  assert.match(partOf(text, 'span-on'), /aria-label="starts at [^"]*, is running, running"/)
})

test('a running run shows spans of a clock that is ahead', async () => {
  const ahead = (ms: number) => String(BigInt(Date.now() + 86_400_000 + ms) * 1_000_000n)
  await bench.trace({
    trace_id: 'ahead',
    status: 'running',
    spans: [{ id: 'tomorrow', name: 'step', start_ns: ahead(0), end_ns: ahead(10) }],
  })
  assert.match(partOf(await bench.page('/replay/ahead'), 'span-tomorrow'), /<rect x="0.00%" width="100.00%"/)
})

test('the pin form returns to the current view, not to a part of it', async () => {
  const text = await bench.page('/replay/going?span=on&part=details')
  assert.match(text, /name="return_to" value="\/replay\/going\?span=on"/)
})

test('an event before the start of its run has a negative offset', async () => {
  const spans = [{ id: 'late', name: 'step', start_ns: at(1_000), end_ns: at(2_000) }]
  const events = [{ id: 'early', name: 'file.change', time_ns: at(400), attributes: { path: 'a.ts' } }]
  await bench.trace({ trace_id: 'early', start_ns: at(1_000), end_ns: at(2_000), spans, events })
  const row = partOf(await bench.page('/replay/early?view=events'), 'event-early')
  assert.match(textOf(row), /^−600 ms file\.change the run 1 attribute path a\.ts$/)
})
