import type { Browser } from 'playwright-core'
import { type BenchOptions, isChosen } from '../options.ts'
import { openChromium } from '../pages/chromium.ts'
import { type Served, servePages } from '../pages/served.ts'
import { type Figure, figure } from '../replay/figures.ts'

/** Runs of the list, and spans of two timelines. The server renders the first page of `whole`. Script draws the visible part of `long`. */
interface Sizes {
  readonly runs: number
  readonly whole: number
  readonly long: number
}
const sizes: Sizes = { runs: 50, whole: 2_000, long: 30_000 }
/** Rows that the server renders. */
const FIRST_PAGE = 300
const smokeSizes: Sizes = { runs: 5, whole: 50, long: 2_500 }

/** The result of the pages suite. Each figure is the median of its rounds. */
export interface PagesResult {
  readonly figures: readonly Figure[]
}

/** Names of all measurements. */
export const pagesNames = (): readonly string[] => ['list', 'timeline']

/** Measures the list of runs on the server, and timelines on the server and, if available, in Chromium. */
export const runPages = async (options: BenchOptions, log: (line: string) => void): Promise<PagesResult> => {
  const wanted = options.smoke ? smokeSizes : sizes
  const rounds = options.smoke ? 2 : options.rounds
  const served = await servePages(wanted.runs)
  try {
    const figures: Figure[] = []
    if (isChosen(options, 'list')) {
      log('list')
      figures.push(await servedIn(`list of ${wanted.runs} runs, server`, `${served.url}/replay`, rounds * 4))
    }
    if (isChosen(options, 'timeline')) figures.push(...(await timelines(served, wanted, rounds, log)))
    return { figures }
  } finally {
    await served.close()
  }
}

const timelines = async (
  served: Served,
  { whole, long }: Sizes,
  rounds: number,
  log: (line: string) => void,
): Promise<readonly Figure[]> => {
  const browser = await openChromium()
  if (browser === undefined) log('timeline: on the server alone, there is no Chromium')
  try {
    const figures: Figure[] = []
    for (const [spans, query, drawn] of [
      [whole, '', `document.querySelectorAll('#timeline tbody tr').length >= ${Math.min(whole, FIRST_PAGE)}`],
      [long, '?all=1', `document.documentElement.scrollHeight > ${long * 20}`],
    ] as const) {
      log(`timeline of ${spans} spans`)
      const address = `${served.url}${await served.keep(spans)}${query}`
      figures.push(await servedIn(`${spans} spans, server`, address, rounds))
      if (browser !== undefined) figures.push(...(await shownIn(`${spans} spans`, browser, address, drawn, rounds)))
    }
    return figures
  } finally {
    await browser?.close()
  }
}

/** Time from the request to the last byte of a warm page. */
const servedIn = async (name: string, address: string, rounds: number): Promise<Figure> => {
  const times: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const start = performance.now()
    const answer = await fetch(address, { headers: { accept: 'text/html' } })
    await answer.text()
    if (answer.status !== 200) throw new Error(`${address} answers ${answer.status}`)
    if (round > 0) times.push(performance.now() - start)
  }
  return figure(name, middle(times), 'ms')
}

/**
 * Time from the start of the navigation until the rows are present and their script runs, with cached files. Also the
 * CPU time of the main thread of the page, which depends less on other load.
 */
const shownIn = async (
  name: string,
  browser: Browser,
  address: string,
  drawn: string,
  rounds: number,
): Promise<readonly Figure[]> => {
  // the content security policy forbids the evaluation that the driver needs
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: true })
  const page = await context.newPage()
  const inside = await context.newCDPSession(page)
  await inside.send('Performance.setTimeDomain', { timeDomain: 'threadTicks' })
  await inside.send('Performance.enable')
  const shown: number[] = []
  const worked: number[] = []
  for (let round = 0; round <= rounds; round++) {
    await page.goto(address, { waitUntil: 'commit' })
    const at = await page.waitForFunction(`document.readyState === 'complete' && ${drawn} && performance.now()`)
    const { metrics } = await inside.send('Performance.getMetrics')
    if (round === 0) continue
    shown.push(Number(await at.jsonValue()))
    worked.push(1_000 * (metrics.find((metric) => metric.name === 'ThreadTime')?.value ?? 0))
  }
  await context.close()
  return [
    figure(`${name}, interactive`, middle(shown), 'ms'),
    figure(`${name}, work of the page's thread`, middle(worked), 'ms'),
  ]
}

const middle = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0
