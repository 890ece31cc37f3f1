import assert from 'node:assert/strict'
import type { Page, Response } from 'playwright-core'

/** A page, and everything that went wrong in it. */
export class Visit {
  readonly page: Page
  readonly faults: string[] = []
  readonly dialogs: string[] = []
  readonly #leave: (visit: Visit) => Promise<void>

  /** `leave`: takes the page when the visit has ended well. */
  constructor(page: Page, url: string, leave: (visit: Visit) => Promise<void>) {
    this.page = page
    this.#leave = leave
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.faults.push(`console: ${message.text()}`)
    })
    page.on('pageerror', (error) => this.faults.push(`script: ${error.message}`))
    page.on('request', (request) => {
      if (!/^(?:data|blob|about):/.test(request.url()) && new URL(request.url()).origin !== url)
        this.faults.push(`asks ${request.url()}`)
    })
    page.on('dialog', (dialog) => {
      this.dialogs.push(dialog.message())
      void dialog.dismiss()
    })
  }

  /** Goes to a path. Throws if the status is none of those wanted. */
  async to(path: string, ...wanted: readonly number[]): Promise<Response> {
    const answer = await this.page.goto(path, { waitUntil: 'load' })
    assert.ok(answer, path)
    const status = answer.status()
    assert.ok((wanted.length === 0 ? [200] : wanted).includes(status), `${path}: ${status}`)
    // a browser writes down that a page was not found; that is not the page's fault
    if (status >= 400)
      this.faults.splice(0, this.faults.length, ...this.faults.filter((text) => !/status of 4/.test(text)))
    return answer
  }

  /** Nothing has gone wrong so far. */
  clean(): void {
    assert.deepEqual(this.faults, [], this.page.url())
    assert.deepEqual(this.dialogs, [])
  }

  /** How far the page is wider than the window. */
  overflow(): Promise<number> {
    return this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  }

  /** Ends the visit; everything must have gone well. */
  async close(): Promise<void> {
    try {
      this.clean()
    } catch (error) {
      await this.page.context().close()
      throw error
    }
    await this.#leave(this)
  }
}
