import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { documents } from '../documents/documents.ts'
import { contributions, filesBelow, read, root } from './sources.ts'

/** The level-2 headings of each feature's README; `Life of …` names what passes through the feature. */
const headings = [/^What it does$/, /^Life of an? \S.*$/, /^Rooms$/, /^Where to look$/, /^Tests$/]

/** Features whose README is a guide for authors, with the headings of guides. */
const guides = new Set(['cli', 'ui'])

/** Features without such a README yet. */
const missing: ReadonlySet<string> = new Set([])

const folders = readdirSync(join(root, 'plugins'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
const features = folders.filter((name) => name !== 'lib' && !contributions.includes(name))
const described = features.filter((name) => !guides.has(name) && !missing.has(name))

const headingsOf = (text: string): string[] => [...text.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading)

/** Where the links of a Markdown file lead, without those to other hosts. */
const linksOf = (text: string): string[] =>
  [...text.matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)].map(([, target = '']) => target)

/** The anchor that GitHub makes of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const anchorsOf = (file: string): string[] =>
  [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading))

describe('the README of each feature', () => {
  it('is there, but for those named here', () => {
    for (const name of features)
      assert.ok(
        missing.has(name) || existsSync(join(root, `plugins/${name}/README.md`)),
        `no plugins/${name}/README.md`,
      )
    for (const name of [...guides, ...missing]) assert.ok(features.includes(name), `${name} is no feature`)
  })
  for (const name of described) {
    const file = `plugins/${name}/README.md`
    it(`of ${name} has the five headings in their order`, () => {
      const found = headingsOf(read(file))
      assert.equal(found.length, headings.length, `${file}: ${found.join(', ')}`)
      for (const [index, heading] of headings.entries()) assert.match(found[index] ?? '', heading, file)
    })
    it(`of ${name} names only files and folders that are there`, () => {
      const below = [...filesBelow(`plugins/${name}`), ...filesBelow(`test/plugins/${name}`)]
      for (const [, path = ''] of read(file).matchAll(/`([\w./-]+\.ts|[\w-]+\/)`/g)) {
        const isThere =
          [root, join(root, 'plugins', name)].some((folder) => existsSync(join(folder, path))) ||
          below.some((known) => known.endsWith(`/${path}`))
        assert.ok(isThere, `${file} names ${path}`)
      }
    })
  }
})

describe('links between the documents', () => {
  for (const file of documents)
    it(`of ${file} lead to a file, and to a heading in it`, () => {
      for (const link of linksOf(read(file))) {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? file : join(dirname(file), path)
        assert.ok(existsSync(join(root, target)), `${file} links to ${link}`)
        if (anchor !== undefined && target.endsWith('.md'))
          assert.ok(anchorsOf(target).includes(anchor), `${file} links to ${link}`)
      }
    })
})
