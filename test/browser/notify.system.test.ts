import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type FakeProvider, fakeProvider } from '../kit/provider.ts'
import { noBrowser } from './chromium.ts'
import type { Visit } from './visit.ts'
import { startWorld, type World } from './world.ts'

/** A notification that a page has shown. */
interface Shown {
  readonly body: string
  readonly tag: string
}

/** What `document.hidden` says from now on, and that nobody looks at the page. */
const hide = (page: Page, hidden: boolean): Promise<void> =>
  page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true })
    Object.defineProperty(document, 'hasFocus', { value: () => !value, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)

describe('the page that tells', { skip: noBrowser }, () => {
  let world: World
  let provider: FakeProvider
  let sessions = 0
  before(async () => {
    provider = await fakeProvider()
    world = await startWorld({ provider: provider.url })
  })
  after(async () => {
    await provider.close()
    await world.close()
  })

  /** A session that waits for a person from now on; what lets it go on. */
  const paused = async (reason: string): Promise<() => Promise<void>> => {
    const name = `window-${++sessions}`
    const asked = await fetch(`${world.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': world.gateway.key, 'x-guard-session-id': name },
      body: `{"model":"m-1","max_tokens":8,"messages":[{"role":"user","content":"${name}"}]}`,
    })
    assert.equal(asked.status, 200)
    assert.equal((await world.api('POST', `/api/sessions/${name}/pause`, { reason })).status, 200)
    return async () => void (await world.api('POST', `/api/sessions/${name}/resume`))
  }

  /** A page, and what it has shown so far. A headless browser denies all notifications, so the answer of its person is played: yes, once asked. */
  const visitor = async (): Promise<{ visit: Visit; shown: () => Promise<readonly Shown[]> }> => {
    const visit = await world.open({ colorScheme: 'dark' })
    await visit.page.addInitScript(() => {
      const Real = Notification
      const shown: object[] = []
      let permission: NotificationPermission = sessionStorage.asked === 'yes' ? 'granted' : 'default'
      class Played extends Real {
        static override get permission() {
          return permission
        }
        static override async requestPermission() {
          sessionStorage.asked = 'yes'
          permission = 'granted'
          return permission
        }
        constructor(title: string, options: NotificationOptions = {}) {
          super(title, options)
          shown.push({ body: options.body, tag: options.tag, click: () => this.onclick?.(new Event('click')) })
        }
      }
      Object.assign(window, { shown, Notification: Played })
    })
    const shown = () => visit.page.evaluate(() => Reflect.get(window, 'shown') as Shown[])
    return { visit, shown }
  }
  const live = (page: Page) => page.locator('#live', { hasText: 'live' }).waitFor()
  const iconOf = (page: Page) => page.locator('link[rel="icon"]').getAttribute('href')

  it('says in its title and its icon how many things wait for a person', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/')
    await live(page)
    assert.equal(await page.title(), 'Now · Guard')
    assert.match((await iconOf(page)) ?? '', /\/icon\.svg$/)
    const [first, second] = [await paused('one'), await paused('two')]
    await page.waitForFunction(() => document.title === '(2) Now · Guard')
    assert.match((await iconOf(page)) ?? '', /\/icon-badge\.svg$/)
    assert.equal((await page.request.get((await iconOf(page)) ?? '')).status(), 200)
    await visit.to('/policies')
    assert.equal(await page.title(), '(2) Policies · Guard')
    await first()
    await second()
    await visit.to('/')
    assert.equal(await page.title(), 'Now · Guard')
    await visit.close()
  })

  it('asks the browser for nothing before the click, and offers none where it is denied', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/')
    await live(page)
    const state = await page.evaluate(() => Notification.permission)
    assert.equal(await page.locator('#notify').isVisible(), state !== 'denied')
    await visit.close()
  })

  it('notifies in a hidden tab after one click, with a link, and not where somebody looks', async () => {
    const { visit, shown } = await visitor()
    const { page } = visit
    await visit.to('/policies')
    const button = page.getByRole('button', { name: 'Notify me' })
    assert.equal(await button.getAttribute('aria-pressed'), 'false')
    assert.equal(await page.evaluate(() => sessionStorage.asked), undefined)
    await button.click()
    await page.locator('#notify[aria-pressed="true"]').waitFor()
    await live(page)
    await hide(page, true)
    const resume = await paused('in circles <b>again</b>')
    await page.waitForFunction(() => Reflect.get(window, 'shown').length > 0)
    const [{ body, tag } = { body: '', tag: '' }] = await shown()
    assert.equal(body, 'A session of project "default" is paused and waits for a person: in circles <b>again</b>.')
    assert.match(tag, /^paused ses_/)
    await page.waitForFunction(() => document.title.startsWith('(1) '))
    assert.equal((await shown()).length, 1)
    await page.evaluate(() => Reflect.get(window, 'shown')[0].click())
    await page.waitForURL(/\/sessions\/ses_/)
    await resume()

    await live(page)
    await hide(page, false)
    const again = await paused('seen')
    await page.waitForFunction(() => document.title.startsWith('(1) '))
    assert.deepEqual(await shown(), [])
    await again()
    await visit.close()
  })

  it('lets its stream go in a hidden tab once it is turned off again', async () => {
    const { visit, shown } = await visitor()
    const { page } = visit
    await visit.to('/')
    await page.getByRole('button', { name: 'Notify me' }).click()
    await page.locator('#notify[aria-pressed="true"]').waitFor()
    await page.getByRole('button', { name: 'Notify me' }).click()
    await page.locator('#notify[aria-pressed="false"]').waitFor()
    await live(page)
    const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/v1/stream'))
    await hide(page, true)
    await ended
    const resume = await paused('unheard')
    assert.deepEqual(await shown(), [])
    await resume()
    await visit.close()
  })
})
