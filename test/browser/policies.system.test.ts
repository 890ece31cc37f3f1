import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from './chromium.ts'
import { startWorld, type World } from './world.ts'

interface Policy {
  readonly version: number
  readonly mode: string | null
  readonly rules: readonly { readonly id: string; readonly rule_type: string; readonly threshold: number }[]
}

describe('the policy of a project, without JavaScript', { skip: noBrowser }, () => {
  let world: World
  let project: string
  before(async () => {
    world = await startWorld()
    project = String((await world.play('exact-loop', 'shadow')).project_id)
  })
  after(() => world.close())

  const policy = async (): Promise<Policy> =>
    (await world.api('GET', `/api/policies/${project}`)).json as unknown as Policy
  const open = async () => {
    const visit = await world.open({ javaScriptEnabled: false })
    await visit.to(`/policies/${project}`)
    return visit
  }
  /** The field of a rule by its type. */
  const threshold = async (page: Page, type: string) => {
    const { rules } = await policy()
    return page.getByLabel(`Threshold of rule ${rules.findIndex(({ rule_type }) => rule_type === type) + 1}`, {
      exact: true,
    })
  }
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).last()

  it('is shown as it is in force, and leads there from the list', async () => {
    const visit = await world.open({ javaScriptEnabled: false })
    const { page } = visit
    await visit.to('/policies')
    await page.getByRole('link', { name: project }).first().click()
    await page.waitForURL(`**/policies/${project}`)
    assert.equal(await (await threshold(page, 'exact_repeat')).inputValue(), '3')
    await visit.close()
  })

  it('keeps what was typed and says beside the field what is wrong', async () => {
    const { page } = await open()
    const before = await policy()
    await (await threshold(page, 'max_requests')).fill('many')
    await button(page, 'Save').click()
    await page.locator('.fault').first().waitFor()
    const field = await threshold(page, 'max_requests')
    assert.equal(await field.inputValue(), 'many')
    assert.equal(await field.getAttribute('aria-invalid'), 'true')
    const fault = await field.getAttribute('aria-describedby')
    assert.ok(((await page.locator(`[id="${fault}"]`).textContent()) ?? '').length > 5)
    assert.deepEqual(await policy(), before)
    await page.context().close()
  })

  it('is tried on stored traffic before anything is saved', async () => {
    const visit = await open()
    const before = await policy()
    await button(visit.page, 'Try on stored traffic').click()
    const tried = visit.page.getByLabel('Tried on stored traffic')
    await tried.waitFor()
    assert.match(await tried.innerText(), /1 sessions? with/)
    assert.match(await tried.innerText(), /exact_repeat/)
    assert.deepEqual(await policy(), before)
    await visit.close()
  })

  it('is saved, with rules added, moved and removed', async () => {
    const visit = await open()
    const { page } = visit
    const before = await policy()
    await (await threshold(page, 'max_requests')).fill('77')
    await button(page, 'Add a rule').click()
    await page.waitForURL(/draft=/)
    // asks for a page, and sends nothing again
    assert.equal((await page.reload())?.request().method(), 'GET')
    assert.equal(await (await threshold(page, 'max_requests')).inputValue(), '77')
    const added = before.rules.length + 1
    const first = page.url()
    await page.getByLabel(`Id of rule ${added}`, { exact: true }).fill('one-more')
    await page.getByLabel(`Up of rule ${added}`).click()
    await page.waitForURL((url) => url.href !== first)
    assert.equal(await page.getByLabel(`Id of rule ${added - 1}`, { exact: true }).inputValue(), 'one-more')
    await button(page, 'Save').click()
    await page.locator('.notice', { hasText: 'Policy saved' }).waitFor()
    const { rules, version } = await policy()
    assert.equal(version, before.version + 1)
    assert.equal(rules.find(({ rule_type }) => rule_type === 'max_requests')?.threshold, 77)
    assert.equal(rules.at(-2)?.id, 'one-more')
    await page.getByLabel(`Remove of rule ${added - 1}`).click()
    await page.waitForURL(/draft=/)
    await button(page, 'Save').click()
    await page.locator('.notice', { hasText: 'Policy saved' }).waitFor()
    assert.equal((await policy()).rules.length, before.rules.length)
    await visit.close()
  })

  it('that somebody else has saved meanwhile is not written over unasked', async () => {
    const { page } = await open()
    const { mode, rules } = await policy()
    await world.api('PUT', `/api/policies/${project}`, { mode, rules })
    const { version } = await policy()
    await (await threshold(page, 'max_requests')).fill('55')
    const answered = page.waitForResponse((answer) => answer.request().method() === 'POST')
    await button(page, 'Save').click()
    assert.equal((await answered).status(), 409)
    assert.equal(await (await threshold(page, 'max_requests')).inputValue(), '55')
    assert.equal((await policy()).version, version)
    await page.context().close()
  })

  it('begins to enforce only when that is said twice', async () => {
    const visit = await open()
    const { page } = visit
    await page.locator('#field-mode select').selectOption('enforce')
    await button(page, 'Save').click()
    await page.waitForURL(/draft=/)
    await page.getByLabel('Tried on stored traffic').waitFor()
    assert.notEqual((await policy()).mode, 'enforce')
    await button(page, 'Save and enforce').click()
    await page.locator('.notice', { hasText: 'Policy saved' }).waitFor()
    assert.equal((await policy()).mode, 'enforce')
    await visit.close()
  })

  it('is removed only when that is said twice, and its versions stay', async () => {
    const visit = await open()
    const { page } = visit
    const { version } = await policy()
    await button(page, 'Remove this policy').click()
    await page.waitForURL(/draft=/)
    await page.getByRole('alert').waitFor()
    assert.equal((await policy()).version, version)
    await button(page, 'Remove this policy').click()
    await page.locator('.notice', { hasText: 'Policy removed' }).waitFor()
    assert.equal((await policy()).version, 0)
    assert.equal(await button(page, 'Remove this policy').count(), 0)
    await page.locator(`#version-${version}`).getByRole('button', { name: 'Put into the form' }).waitFor()
    await visit.close()
  })
})
