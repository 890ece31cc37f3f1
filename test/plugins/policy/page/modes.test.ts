import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Started, startGateway } from 'guard-gateway/test'
import { decoded, fieldsOf } from './kit.ts'

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

test('enforcing the default rules is warned of at the mode, beside the way to other rules', async () => {
  const fields = fieldsOf(await page('/policies/warned'))
  assert.doesNotMatch(await page('/policies/warned'), /Enforced, the default rules/)
  fields.set('mode', 'enforce')
  fields.set('intent', 'save')
  const confirming = decoded(await shownAfter('warned', fields))
  assert.match(confirming, /Press “Save and enforce” below/)
  assert.match(
    confirming,
    /<p class="warning">Enforced, the default rules also stop what is no loop: .* The preset "enforce-recommended" stops/,
  )
  fields.set('intent', 'preset:enforce-recommended')
  const other = await shownAfter('warned', fields)
  assert.match(other, /id="rule-novelty_stall"/)
  assert.doesNotMatch(other, /Enforced, the default rules/)
})

test('every action can be chosen', async () => {
  const text = await page('/policies/chosen')
  for (const action of ['block', 'steer', 'pause', 'flag'])
    assert.ok(text.includes(`<option value="${action}"`), action)
})
