import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { seriousFindings } from './axe.ts'
import { leaveBrowser, noBrowser, openBrowser } from './chromium.ts'

/** A gateway that other machines reach. */
interface Remote {
  readonly url: string
  key(scopes: readonly string[], projects?: readonly string[], name?: string): Promise<{ key: string; id: string }>
  ask(path: string, options?: { readonly key?: string }): Promise<{ readonly status: number }>
  [Symbol.asyncDispose](): Promise<void>
}

const startRemote = async (): Promise<Remote> => {
  // by its address: what is imported by name is checked against the types of a page, and a gateway is none
  const kit = (await import(new URL('../plugins/access/kit.ts', import.meta.url).href)) as { remote(): Promise<Remote> }
  return kit.remote()
}

describe('a login beyond loopback', { skip: noBrowser }, () => {
  let running: Remote
  let browser: Browser
  let key = ''
  before(async () => {
    ;[running, browser] = await Promise.all([startRemote(), openBrowser()])
    ;({ key } = await running.key(['admin'], undefined, 'Ada Lovelace'))
    await running.key(['read', 'operate'], ['shop'], 'on call')
  })
  after(async () => {
    leaveBrowser()
    await running[Symbol.asyncDispose]()
  })

  const within = async (options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void> => {
    const context = await browser.newContext(options)
    try {
      await work(await context.newPage())
    } finally {
      await context.close()
    }
  }
  const logIn = async (page: Page, path = '/'): Promise<void> => {
    await page.goto(running.url + path)
    await page.getByLabel('Key').fill(key)
    await page.getByRole('button', { name: 'Log in' }).click()
  }

  it('leads to the page that was asked for, and back out, without script', () =>
    within({ javaScriptEnabled: false }, async (page) => {
      await logIn(page, '/sessions')
      await page.waitForURL(`${running.url}/sessions`)
      await page.getByText('Ada Lovelace').waitFor()
      await page.getByRole('button', { name: 'Log out' }).click()
      await page.waitForURL('**/login')
      await page.goto(`${running.url}/sessions`)
      await page.waitForURL('**/login?next=%2Fsessions')
    }))
  it('says what is wrong with a key', () =>
    within({ javaScriptEnabled: false }, async (page) => {
      await page.goto(`${running.url}/login`)
      await page.getByLabel('Key').fill('wrong')
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.getByRole('alert').filter({ hasText: 'unknown, revoked or expired' }).waitFor()
    }))
  it('makes and revokes keys, without script', () =>
    within({ javaScriptEnabled: false }, async (page) => {
      await logIn(page, '/keys')
      await page.getByLabel('Whose it is').fill('dashboard')
      await page.getByRole('button', { name: 'Make the key' }).click()
      const made = (await page.locator('.secret').textContent()) ?? ''
      assert.equal((await running.ask('/api/sessions', { key: made })).status, 200)
      await page.getByRole('link', { name: 'All keys' }).click()
      await page.getByRole('button', { name: 'Revoke the key dashboard' }).click()
      await page.getByRole('status').filter({ hasText: 'Revoked' }).waitFor()
      assert.equal((await running.ask('/api/sessions', { key: made })).status, 401)
      await page.goto(`${running.url}/audit?action=key.revoked`)
      await page.getByRole('rowheader', { name: /Ada Lovelace/ }).waitFor()
    }))
  for (const width of [390, 1024, 1440])
    for (const colorScheme of ['light', 'dark'] as const)
      it(`is fit to read at ${width} pixels, ${colorScheme}`, () =>
        within({ viewport: { width, height: 900 }, colorScheme }, async (page) => {
          await page.goto(`${running.url}/login?next=/keys`)
          await check(page, `login-${width}-${colorScheme}`)
          await logIn(page, '/keys')
          await page.waitForURL('**/keys')
          await check(page, `keys-${width}-${colorScheme}`)
          await page.goto(`${running.url}/audit`)
          await check(page, `audit-${width}-${colorScheme}`)
        }))

  const check = async (page: Page, name: string): Promise<void> => {
    const folder = process.env.GUARD_SCREENSHOTS
    if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
    const isWide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
    assert.equal(isWide, false, name)
    assert.deepEqual(await seriousFindings(page), [], name)
  }
})
