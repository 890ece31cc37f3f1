/** How a text that may hold anything gets into what is recorded. */
export interface Context {
  readonly name: string
  /** Around a secret that is recognised by itself. */
  readonly around: (secret: string) => string
  /** Around a secret that is recognised by its name. */
  readonly named: (name: string, secret: string) => string
}

const json = JSON.stringify
const camel = (name: string): string =>
  name.toLowerCase().replace(/_([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase())
const kebab = (name: string): string => name.toLowerCase().replaceAll('_', '-')
const header = (name: string): string => kebab(name).replace(/(?:^|-)[a-z]/g, (letters) => letters.toUpperCase())

const assigned = (name: string, secret: string): string => `${name}=${secret}`
const context = (
  name: string,
  around: Context['around'],
  named: Context['named'] = (variable, secret) => around(assigned(variable, secret)),
): Context => ({ name, around, named })

/** Colours as a terminal gets them, and as JSON, shells, C and `cat -v` write them. */
const colours: readonly (readonly [name: string, introducer: string])[] = [
  ['raw', '\u001b'],
  ['\\u001b', '\\u001b'],
  ['\\x1b', '\\x1b'],
  ['\\e', '\\e'],
  ['\\033', '\\033'],
  ['\\\\u001b', '\\\\u001b'],
  ['^[', '^['],
]

/** Where secrets are found in the work of agents. */
export const contexts: readonly Context[] = [
  context('bare', (secret) => secret),
  context('a sentence', (secret) => `it printed ${secret} and went on`),
  context(
    'JSON',
    (secret) => json({ a: 1, value: secret }),
    (name, secret) => json({ a: 1, [camel(name)]: secret }),
  ),
  context(
    'JSON in JSON',
    (secret) => json({ output: json({ value: secret }) }),
    (name, secret) => json({ output: json({ [name.toLowerCase()]: secret }) }),
  ),
  context(
    'broken JSON in a string',
    (secret) => `"{\\"value\\": \\"${secret}\\", \\"b\\": `,
    (name, secret) => `"{\\"${name.toLowerCase()}\\": \\"${secret}\\", \\"b\\": `,
  ),
  context(
    'an environment',
    (secret) => `HOME=/home/ada\nVALUE=${secret}\nLANG=C`,
    (name, secret) => `HOME=/home/ada\n${name}=${secret}\nLANG=C`,
  ),
  context(
    'an export',
    (secret) => `export VALUE="${secret}"`,
    (name, secret) => `export ${name}="${secret}"`,
  ),
  context(
    'YAML',
    (secret) => `service:\n  value: ${secret}\n  port: 80\n`,
    (name, secret) => `service:\n  ${name.toLowerCase()}: ${secret}\n  port: 80\n`,
  ),
  context(
    'a header',
    (secret) => `GET / HTTP/1.1\r\nX-Value: ${secret}\r\nAccept: */*\r\n`,
    (name, secret) => `GET / HTTP/1.1\r\nX-${header(name)}: ${secret}\r\nAccept: */*\r\n`,
  ),
  context(
    'a query',
    (secret) => `https://example.com/a?value=${encodeURIComponent(secret)}&b=1`,
    (name, secret) => `https://example.com/a?${name.toLowerCase()}=${encodeURIComponent(secret)}&b=1`,
  ),
  context(
    'an option',
    (secret) => `run --value ${secret} --verbose`,
    (name, secret) => `run --${kebab(name)} ${secret} --verbose`,
  ),
  context(
    'an option in quotes',
    (secret) => `run --value='${secret}' -v`,
    (name, secret) => `run --${kebab(name)}='${secret}' -v`,
  ),
  ...colours.map(([name, introducer]) =>
    context(`a colour, ${name}`, (secret) => `fail: ${introducer}[1;31m${secret}${introducer}[0m\n`),
  ),
  context('what grep marks', (secret) => `.env:\u001b[01;31m\u001b[K${secret}\u001b[m\u001b[K`),
  context('a colour in JSON', (secret) => json({ output: `\u001b[31m${secret}\u001b[0m` })),
  context('round brackets', (secret) => `(${secret}), then`),
  context('square brackets', (secret) => `[${secret}]`),
  context('pointed brackets', (secret) => `<code>${secret}</code>`),
  context('the end of a sentence', (secret) => `it is "${secret}".`),
  context('a list', (secret) => `a,${secret},b`),
  context('CRLF', (secret) => `one\r\n${secret}\r\nthree`),
  context('line ends as written', (secret) => `one\\n${secret}\\r\\nthree`),
  context('Markdown, code', (secret) => `Use \`${secret}\` here.`),
  context('Markdown, bold', (secret) => `Use **${secret}** here.`),
  context('Markdown, a block', (secret) => `\`\`\`sh\n${secret}\n\`\`\`\n`),
  context('Markdown, a table', (secret) => `| name | value |\n| - | - |\n| a | ${secret} |\n`),
  context('a difference', (secret) => `@@ -1 +1 @@\n-old\n+${secret}\n`),
  context(
    'base64',
    (secret) => Buffer.from(`value ${secret}\n`).toString('base64'),
    (name, secret) => Buffer.from(`${name}=${secret}\n`).toString('base64'),
  ),
]
