import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { chromiumPath } from '../../bench/pages/chromium.ts'

const found = chromiumPath()
const required = process.env.GUARD_BROWSER_TESTS === 'required'

/** Why tests in a browser cannot run here; false if they can. Where they are required, they fail instead of being left out. */
export const noBrowser: string | false =
  found === undefined && !required && 'no Chromium here: install one, or name it in CHROMIUM_PATH'

/** For how long a browser waits for the next who wants it. */
const LINGER_MS = 1_000

let shared: Promise<Browser> | undefined
let users = 0
let end: NodeJS.Timeout | undefined

/** The browser of this process, the same for files that follow one another: to start one costs more than many a test. What it keeps, it keeps by context. */
export const openBrowser = async (): Promise<Browser> => {
  clearTimeout(end)
  users++
  shared ??= launched()
  return shared
}

/** Says that a browser is not wanted any more; it ends when nobody has wanted it for a while. */
export const leaveBrowser = (): void => {
  users--
  if (users > 0) return
  end = setTimeout(() => {
    const last = shared
    shared = undefined
    void last?.then((browser) => browser.close())
  }, LINGER_MS)
}

/** A browser that asks nobody anything of its own accord. */
const launched = async (): Promise<Browser> => {
  if (found === undefined) throw new Error('There is no Chromium, and GUARD_BROWSER_TESTS=required.')
  return chromium.launch({
    executablePath: join(import.meta.dirname, 'chromium.sh'),
    env: { ...process.env, CHROMIUM: found },
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--in-process-gpu',
      '--renderer-process-limit=1',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
