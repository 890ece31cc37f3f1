import assert from 'node:assert/strict'
import { type Started, startGateway } from '../../kit.ts'

/** Reads pages of the guide of a gateway. */
export class GuideReader {
  readonly started: Started

  constructor(started: Started) {
    this.started = started
  }

  static async start(): Promise<GuideReader> {
    return new GuideReader(await startGateway())
  }

  get url(): string {
    return this.started.url
  }

  async page(path: string, status = 200): Promise<string> {
    const answer = await fetch(this.url + path, { headers: { accept: 'text/html' }, redirect: 'manual' })
    assert.equal(answer.status, status, path)
    assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'; script-src 'self'; /)
    return answer.text()
  }

  /** The words of a page. */
  async words(path: string): Promise<string> {
    return textOf(await this.page(path))
  }

  close(): Promise<void> {
    return this.started.close()
  }
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", '#96': '`', amp: '&' }

/** The words of markup, with one space between them and at each end. */
export const textOf = (markup: string): string =>
  ` ${markup.replaceAll('<wbr>', '').replaceAll(/<[^>]*>/g, ' ')} `
    .replaceAll(/&(#?\w+);/g, (all, name: string) => entities[name] ?? all)
    .replaceAll(/\s+/g, ' ')
