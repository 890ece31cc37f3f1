import { text } from 'node:stream/consumers'
import type { Input, Io } from '#lib/command'
import { groupedText } from '#lib/format'
import { readJson } from '#lib/json'
import { columnLines, hint, terminalWidth } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import type { PriceEntry, PriceReport } from '../pricing/price-report.ts'
import { STALE_DAYS } from '../pricing/pricing.ts'
import type { ReplayCommandOptions } from './command-options.ts'

/** Prints the state of the price file, or the price of a model. */
export const showPrices = async ({ asking }: ReplayCommandOptions, input: Input, io: Io): Promise<number> => {
  const [model] = input.args
  const path = model === undefined ? '/api/v1/prices' : `/api/v1/prices/model?${new URLSearchParams({ model })}`
  const answers = await asking(async (ask) => ({
    report: await text(await ask('GET', '/api/v1/prices')),
    answer: model === undefined ? '' : await text(await ask('GET', path)),
  }))
  const report = readJson(answers.report) as PriceReport
  if (input.options.json === true) {
    io.out.write(`${model === undefined ? answers.report : answers.answer}\n`)
    return 0
  }
  const lines =
    model === undefined
      ? [...fileLines(report), ...unpricedLines(report, io)]
      : entryLines(readJson(answers.answer) as PriceEntry, report)
  for (const line of lines) io.out.write(`${line}\n`)
  if (report.unpriced.length > 0 && model === undefined)
    hint('add them to the file, by name or by a pattern with * at the end', input, io)
  return 0
}

const fileLines = ({ file, error, models, currency, version, as_of, ...report }: PriceReport): readonly string[] => {
  if (file === null)
    return [
      'No price file is configured, so that every request costs 0: name one with replay.pricing or GUARD_MODEL_PRICING.',
    ]
  const lines = [`file      ${terminalLine(file)}`]
  if (error !== undefined) lines.push(`error     ${terminalLine(error.message)}`)
  if (version === null) return lines
  lines.push(`models    ${models} names and patterns, in ${currency}, version ${version}`)
  lines.push(`as of     ${ageText(as_of, report)}`)
  for (const [at, { name, url, read }] of report.sources.entries())
    lines.push(`${at === 0 ? 'sources ' : '        '}  ${terminalLine(`${name}, read ${read}: ${url}`)}`)
  return lines
}

const ageText = (as_of: string | null, { age_days, stale }: Pick<PriceReport, 'age_days' | 'stale'>): string => {
  if (as_of === null) return 'the file does not say ("as_of")'
  const age = `${as_of}, ${age_days} ${age_days === 1 ? 'day' : 'days'} ago`
  return stale ? `${age}: older than ${STALE_DAYS} days, look for newer prices` : age
}

const head = ['without a price', 'calls', 'spans', 'tokens']

const unpricedLines = ({ unpriced, looked_at, file }: PriceReport, { out }: Io): readonly string[] => {
  if (file === null && unpriced.length === 0) return []
  const where = `calls of ${looked_at.days} days, the newest ${groupedText(looked_at.spans)} spans`
  if (unpriced.length === 0) return ['', `Every model on record has a price (${where}).`]
  const rows = unpriced.map(({ model, service_tier, calls, spans, tokens }) => [
    terminalLine(service_tier === null ? model : `${model}, service tier ${service_tier}`),
    groupedText(calls),
    groupedText(spans),
    groupedText(tokens),
  ])
  return [
    '',
    ...columnLines([head, ...rows], new Set([1, 2, 3]), {
      width: terminalWidth(out),
      spare: [],
      free: new Map([[0, 20]]),
    }),
  ]
}

const parts = ['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'reasoning'] as const
type Parts = Readonly<Record<(typeof parts)[number], number>>

const entryLines = (entry: PriceEntry, { currency, as_of, sources, ...report }: PriceReport): readonly string[] => {
  const source = sources.find(({ name }) => name === entry.source)
  const region = entry.region === null ? '' : `, region ${entry.region}`
  const lines = [
    `model     ${terminalLine(entry.model)}`,
    `entry     ${terminalLine(entry.listed)}${region}`,
    `price     ${priceText(entry)}`,
    `          in ${currency} per million tokens, as of ${ageText(as_of, report)}`,
    ...tierLines(entry, ''),
  ]
  for (const [name, tier] of Object.entries(entry.service_tiers)) {
    lines.push(`${label(name)}${typeof tier === 'string' ? `× ${tier}` : priceText(tier)}`)
    if (typeof tier !== 'string') lines.push(...tierLines(tier, `${name}, `))
  }
  for (const [name, factor] of Object.entries(entry.regions)) lines.push(`${label(`in ${name}`)}× ${factor}`)
  if (source !== undefined) lines.push(`source    ${terminalLine(`${source.url}, read ${source.read}`)}`)
  if (entry.note !== null) lines.push(`note      ${terminalLine(entry.note)}`)
  return lines
}

const label = (name: string): string => `${name.padEnd(9)} `

const tierLines = ({ tiers }: Pick<PriceEntry, 'tiers'>, of: string): readonly string[] =>
  tiers.map(({ above, ...price }) => `${label(`${of}above ${groupedText(above)} input tokens:`)}${priceText(price)}`)

const priceText = (price: Parts): string =>
  parts.map((part) => `${part.replaceAll('_', ' ')} ${String(price[part] / 1_000_000)}`).join(', ')
