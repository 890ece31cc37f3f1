import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { unusablePath } from '../../../../plugins/mcp-checks/path/unusable-path.ts'

const onWindows: readonly (readonly [string, RegExp])[] = [
  ['C:', /drive/],
  ['C:secret.txt', /drive/],
  ['c:..\\x', /drive/],
  ['\\\\server\\share\\x', /network/],
  ['//server/share', /network/],
  ['\\\\?\\C:\\x', /network/],
  ['\\\\.\\PhysicalDrive0', /network/],
  ['CON', /device/],
  ['src\\nul', /device/],
  ['aux.txt', /device/],
  ['COM1', /device/],
  ['com¹', /device/],
  ['lpt9.log', /device/],
  ['file.txt:stream', /stream/],
  ['C:\\a.txt::$DATA', /stream/],
  ['src.\\a', /dot or blank/],
  ['src \\a', /dot or blank/],
  ['.env.', /dot or blank/],
  ['.env ', /dot or blank/],
  ['...\\x', /dot or blank/],
  ['PROGRA~1\\x', /short name/],
]

describe('what a path check refuses by the text alone', () => {
  for (const [text, reason] of onWindows) {
    it(`on Windows ${text}`, () => assert.match(unusablePath(text, 'win32') ?? '', reason))
  }
  for (const text of [
    'C:\\work\\a.ts',
    'c:/work',
    'src\\a.ts',
    '..\\x',
    '.\\a',
    'console.log',
    'auxiliary',
    'com10',
    'a b.txt',
  ]) {
    it(`on Windows not ${text}`, () => assert.equal(unusablePath(text, 'win32'), undefined))
  }
  it('elsewhere a backslash', () => {
    assert.match(unusablePath('a\\b', 'linux') ?? '', /backslash/)
    assert.equal(unusablePath('CON', 'linux'), undefined)
  })
})
