import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Started, startGateway } from 'guard-gateway/test'
import { fieldsOf } from './kit.ts'

let started: Started
before(async () => {
  started = await startGateway()
})
after(() => started.close())

const accept = { accept: 'text/html' }

const page = async (path: string): Promise<string> => {
  const answer = await fetch(started.url + path, { headers: accept })
  assert.equal(answer.status, 200, path)
  return answer.text()
}

const send = (project: string, fields: URLSearchParams) =>
  fetch(`${started.url}/ui/policies/${project}`, { method: 'POST', body: fields, headers: accept, redirect: 'manual' })

/** Sends a form that is not to be saved, and gives the page that it leads to. */
const shownAfter = async (project: string, fields: URLSearchParams): Promise<string> => {
  const answer = await send(project, fields)
  assert.equal(answer.status, 303)
  const location = answer.headers.get('location') ?? ''
  assert.match(location, new RegExp(`^/policies/${project}\\?draft=draft_\\w+$`))
  return page(location)
}

const changed = async (project: string, changes: Readonly<Record<string, string>>): Promise<URLSearchParams> => {
  const fields = fieldsOf(await page(`/policies/${project}`))
  for (const [name, value] of Object.entries(changes)) fields.set(name, value)
  return fields
}

interface Stored {
  readonly version: number
  readonly mode: string | null
  readonly rules: readonly Readonly<Record<string, unknown>>[]
}
const stored = async (project: string) => (await started.request('GET', `/api/policies/${project}`)).json as Stored

test('a project is found by the name that it will have, before its first request', async () => {
  assert.match(await page('/policies?project_id=shop'), /<a href="\/policies\/shop">shop<\/a>/)
  assert.match(await page('/policies?project_id=no+name'), /1 to 128 of the characters/)
  const answer = await fetch(`${started.url}/policies/no%20name`, { headers: accept })
  assert.equal(answer.status, 400)
})

test('the form as it is shown saves what is in force', async () => {
  const before = await stored('same')
  const answer = await send('same', await changed('same', { intent: 'save' }))
  assert.equal(answer.status, 303)
  assert.equal(answer.headers.get('location'), '/policies/same?notice=policy-saved')
  const after = await stored('same')
  assert.deepEqual(after.rules, before.rules)
  assert.equal(after.version, 1)
  assert.match(await page('/policies/same?notice=policy-saved'), /Policy saved\./)
  assert.match(await page('/policies'), /version 1/)
})

test('a note of several lines, and a type and action of any spelling, are saved as they were', async () => {
  const rule = { id: 'r', rule_type: ' vendor', threshold: 1, action: 'tell ', note: '\nwhy:\n  because\u00ad' }
  await started.request('PUT', '/api/policies/lines', { rules: [rule] })
  const { rules } = await stored('lines')
  assert.equal((await send('lines', await changed('lines', { intent: 'save' }))).status, 303)
  const [after] = (await stored('lines')).rules
  assert.deepEqual(after, { ...rules[0], note: 'why:\n  because\u00ad' })
})

test('a change is saved, told among the versions, and can be taken back', async () => {
  await send('shop', await changed('shop', { intent: 'save' }))
  const fields = await changed('shop', {
    'rules/0/threshold': '5',
    'rules/1/params': '{"result_aware": true}',
    intent: 'save',
  })
  fields.delete('rules/2/enabled')
  assert.equal((await send('shop', fields)).status, 303)
  const { rules } = await stored('shop')
  assert.equal(rules[0]?.threshold, 5)
  assert.deepEqual(rules[1]?.params, { result_aware: true })
  assert.equal(rules[2]?.enabled, false)
  const text = await page('/policies/shop')
  assert.match(text, /exact_repeat: threshold 3 → 5; tool_repeat: params none → .*error_retry: off/)
  const restored = await shownAfter('shop', await changed('shop', { intent: 'restore:1' }))
  assert.match(restored, /name="rules\/0\/threshold" value="3"/)
  assert.equal((await stored('shop')).rules[0]?.threshold, 5)
})

test('every wrong field has its own words beside it, and what was typed stays', async () => {
  const answer = await send(
    'wrong',
    await changed('wrong', {
      'rules/0/threshold': 'three',
      'rules/1/params': '{oops',
      'rules/2/id': 'exact_repeat',
      intent: 'save',
    }),
  )
  assert.equal(answer.status, 422)
  const text = await answer.text()
  assert.match(text, /There are 3 problems/)
  assert.match(text, /aria-current="page">Policies/)
  assert.match(text, /<a href="#field-rules\/0\/threshold">Rule 1: threshold must be an integer/)
  assert.match(
    text,
    /name="rules\/0\/threshold" value="three"[^>]*aria-invalid="true" aria-describedby="fault-rules\/0\/threshold"/,
  )
  assert.match(text, /<p class="fault" id="fault-rules\/1\/params">Rule 2: params must be a JSON object/)
  assert.match(text, /Rule 3: id .*is the id of an earlier rule/)
  assert.equal((await stored('wrong')).version, 0)
})

test('params are checked by the detector of the rule', async () => {
  const answer = await send('params', await changed('params', { 'rules/1/params': '{"no_such": 1}', intent: 'save' }))
  assert.equal(answer.status, 422)
  assert.match(await answer.text(), /Rule 2: params no_such is not a param of tool_repeat/)
})

test('a rule says what its threshold counts', async () => {
  const text = await page('/policies/units')
  assert.match(text, /id="field-rules\/5\/threshold"[^>]*value="100000"[^>]*><br><span class="quiet">tokens<\/span>/)
})

test('rules are added, moved and removed in the form without anything being stored', async () => {
  const added = await shownAfter('moves', await changed('moves', { intent: 'add' }))
  assert.equal(fieldsOf(added).has('rules/6/rule_type'), true)
  assert.match(added, /These changes are not saved/)
  const down = fieldsOf(await shownAfter('moves', await changed('moves', { intent: 'down:0' })))
  assert.deepEqual([down.get('rules/0/id'), down.get('rules/1/id')], ['tool_repeat', 'exact_repeat'])
  const removed = fieldsOf(await shownAfter('moves', await changed('moves', { intent: 'remove:0' })))
  assert.equal(removed.get('rules/0/id'), 'tool_repeat')
  assert.equal((await stored('moves')).version, 0)
  assert.equal((await send('moves', await changed('moves', { intent: 'explode' }))).status, 422)
})

test('a preset fills the form', async () => {
  const fields = await changed('preset', { 'rules/0/threshold': '7', intent: 'preset:default' })
  const shown = fieldsOf(await shownAfter('preset', fields))
  assert.equal(shown.get('rules/0/threshold'), '3')
})

test('a rule of a type that has no detector is kept and marked', async () => {
  const rules = [{ id: 'own', rule_type: 'from_elsewhere', threshold: 4 }]
  await started.request('PUT', '/api/policies/odd', { rules })
  const text = await page('/policies/odd')
  assert.match(text, /<strong>No evaluator\.<\/strong>/)
  assert.equal((await send('odd', await changed('odd', { intent: 'save' }))).status, 303)
  assert.equal((await stored('odd')).rules[0]?.rule_type, 'from_elsewhere')
})

test('whoever was overtaken is told so and keeps the own changes', async () => {
  const mine = await changed('race', { 'rules/0/threshold': '9', intent: 'save' })
  await started.request('PUT', '/api/policies/race', { mode: 'shadow' })
  const answer = await send('race', mine)
  assert.equal(answer.status, 409)
  const text = await answer.text()
  assert.match(text, /Somebody has saved version 1 meanwhile/)
  const again = fieldsOf(text)
  assert.equal(again.get('rules/0/threshold'), '9')
  again.set('intent', 'save')
  assert.equal((await send('race', again)).status, 303)
})

test('to start enforcing takes a second press', async () => {
  const text = await shownAfter('strict', await changed('strict', { mode: 'enforce', intent: 'save' }))
  assert.match(text, /requests that match a blocking rule are refused/)
  assert.equal((await stored('strict')).mode, null)
  const again = fieldsOf(text)
  again.set('intent', 'save')
  assert.equal((await send('strict', again)).status, 303)
  assert.equal((await stored('strict')).mode, 'enforce')
})

test('a policy is removed by a second press, next to what holds then, and its versions stay', async () => {
  assert.doesNotMatch(await page('/policies/mine'), /Remove this policy/)
  await started.request('PUT', '/api/policies/mine', { mode: 'enforce', rules: [{ rule_type: 'max_requests' }] })
  const asked = await shownAfter('mine', await changed('mine', { intent: 'drop' }))
  assert.match(asked, /the rules that come with the gateway hold, in mode shadow .*Press “Remove this policy” again/)
  assert.match(asked, /aria-label="Tried on stored traffic"/)
  assert.equal((await stored('mine')).version, 1)
  // that press confirms nothing else
  const enforcing = fieldsOf(await shownAfter('other', await changed('other', { mode: 'enforce', intent: 'save' })))
  enforcing.set('expected_version', '1')
  enforcing.set('intent', 'drop')
  assert.equal((await send('mine', enforcing)).status, 303)
  assert.equal((await stored('mine')).version, 1)
  const again = fieldsOf(asked)
  again.set('intent', 'drop')
  const answer = await send('mine', again)
  assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/policies/mine?notice=policy-removed'])
  assert.equal((await stored('mine')).version, 0)
  const text = await page('/policies/mine?notice=policy-removed')
  assert.match(text, /Policy removed\./)
  assert.match(text, /<span class="quiet">built in<\/span>/)
  assert.doesNotMatch(text, /Remove this policy|in force<\/span>/)
  assert.match(text, /<tr id="version-1">.*\n.*value="restore:1"/)
  const restored = fieldsOf(await shownAfter('mine', await changed('mine', { intent: 'restore:1' })))
  restored.set('intent', 'save')
  assert.equal((await send('mine', restored)).status, 303)
  assert.equal((await stored('mine')).version, 2)
})

test('whoever changes a policy that was removed meanwhile is told so, and whoever removes one that was changed', async () => {
  const put = () => started.request('PUT', '/api/policies/gone', { mode: 'shadow' })
  await put()
  const change = await changed('gone', { 'rules/0/threshold': '9', intent: 'save' })
  const removal = await changed('gone', { confirmed: 'remove', intent: 'drop' })
  await put()
  const overtaken = await send('gone', removal)
  assert.equal(overtaken.status, 409)
  assert.match(await overtaken.text(), /Somebody has saved version 2 meanwhile/)
  await started.request('DELETE', '/api/policies/gone')
  const answer = await send('gone', change)
  assert.equal(answer.status, 409)
  const text = await answer.text()
  assert.match(text, /Somebody has removed this policy meanwhile/)
  assert.equal(fieldsOf(text).get('rules/0/threshold'), '9')
})

/** Runs a scenario of the Playground to its end. */
const played = async (scenario: string): Promise<void> => {
  const run = await started.request('POST', '/api/v1/playground/runs', { scenario, mode: 'shadow' })
  const { id } = run.json as { readonly id: string }
  for (;;) {
    const { json } = await started.request('GET', `/api/v1/playground/runs/${id}`)
    if ((json as { readonly ended_at: string | null }).ended_at !== null) return
  }
}

test('rules are tried on stored traffic before they are saved', async () => {
  await played('exact-loop')
  const project = 'playground-exact-loop'
  const { version } = await stored(project)
  const fields = await changed(project, { 'rules/0/threshold': '2', intent: 'simulate' })
  const text = await shownAfter(project, fields)
  assert.match(text, /1 session with 4 requests\. In 1 of them a rule would have flagged something/)
  assert.match(text, /<th scope="row">exact_repeat<\/th><td class="figure">1/)
  assert.match(text, /<a href="\/sessions\/ses_/)
  assert.match(text, /name="rules\/0\/threshold" value="2"/)
  assert.equal((await stored(project)).version, version)
  const deaf = await changed(project, { 'rules/0/rule_type': 'content_chant', intent: 'simulate' })
  const silent = await shownAfter(project, deaf)
  assert.match(silent, /No rule would have spoken where it could be tried\./)
  assert.match(silent, /<p class="warning">.*of 4 requests in 1 of 1 sessions the reply.*s text is not on record/)
  const wrong = await send(project, await changed(project, { 'rules/0/threshold': '0', intent: 'simulate' }))
  assert.equal(wrong.status, 422)
})

test('where nothing is on record there is nothing to try rules on, and enforcing shows that first', async () => {
  const text = await shownAfter('fresh', await changed('fresh', { mode: 'enforce', intent: 'save' }))
  assert.match(text, /No request of this project is on record/)
})

test('what is not saved is at an address of its project, as often as it is asked for, while it is kept', async () => {
  const answer = await send('kept', await changed('kept', { 'rules/0/threshold': '8', intent: 'add' }))
  const location = answer.headers.get('location') ?? ''
  for (let turn = 0; turn < 2; turn++) assert.equal(fieldsOf(await page(location)).get('rules/0/threshold'), '8')
  const elsewhere = await page(location.replace('/kept?', '/other?'))
  assert.match(elsewhere, /not kept any more/)
  assert.equal(fieldsOf(elsewhere).get('rules/0/threshold'), '3')
  for (let more = 0; more < 50; more++) await send('kept', fieldsWith('add'))
  assert.match(await page(location), /not kept any more/)
})

const fieldsWith = (intent: string) => new URLSearchParams({ intent, expected_version: '0' })

test('the search finds a policy by its project and a rule by its id', async () => {
  const rule = { id: 'only-here', rule_type: 'exact_repeat', threshold: 3, window_size: 8 }
  const put = await started.request('PUT', '/api/policies/searched', { mode: 'shadow', rules: [rule] })
  assert.equal(put.status, 200, JSON.stringify(put.json))
  const find = (text: string) => fetch(`${started.url}/search?q=${text}`, { redirect: 'manual' })
  assert.equal((await find('only-here')).headers.get('location'), '/policies/searched#rule-only-here')
  assert.equal((await find('searched')).headers.get('location'), '/policies/searched')
})
