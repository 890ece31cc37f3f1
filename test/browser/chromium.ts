import { type Browser, chromium } from 'playwright-core'
import { chromiumPath } from '../../bench/pages/chromium.ts'

const found = chromiumPath()
const required = process.env.GUARD_BROWSER_TESTS === 'required'

/** Why tests in a browser cannot run here; false if they can. Where they are required, they fail instead of being left out. */
export const noBrowser: string | false =
  found === undefined && !required && 'no Chromium here: install one, or name it in CHROMIUM_PATH'

/** A browser that asks nobody anything of its own accord. */
export const openBrowser = async (): Promise<Browser> => {
  if (found === undefined) throw new Error('There is no Chromium, and GUARD_BROWSER_TESTS=required.')
  return chromium.launch({
    executablePath: found,
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
