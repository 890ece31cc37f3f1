import { type Html, html, raw } from 'guard-gateway/lib/html'
import type { Body, LocatedOperation, Parameter, Schema } from './description.ts'
import type { GuardCommand } from './guard-command.ts'
import { alternativesOf, constraintText, typeText } from './schema-words.ts'

/** What a form needs besides its operation. */
export interface FormContext {
  /** Values by parameter name, from the address of the page. */
  readonly values: URLSearchParams
  /** Command that prints the gateway key. */
  readonly keyCommand: string
  /** The same operation on the command line, if there is one. */
  readonly guardCommand: GuardCommand | undefined
}

/** A form that sends a request for an operation. Without script it fills in the command. Fields for keys and bodies have no name, so that no address contains them. */
export const requestForm = (located: LocatedOperation, context: FormContext, command: Html): Html => {
  const { id, method, path, operation } = located
  const { parameters = [], requestBody, security } = operation
  return html`<form class="request" action="/docs/${id}" autocomplete="off" data-method="${method}" data-path="${path}" data-key-command="${context.keyCommand}"${context.guardCommand !== undefined && html` data-guard="${JSON.stringify(context.guardCommand)}"`}>
${parameters.length > 0 && html`<h2>Parameters</h2>${parameterFields(parameters, context.values)}`}
${requestBody !== undefined && html`<h2>Body${requestBody.required !== true && html` <span class="quiet">optional</span>`}</h2>${requestBody.description !== undefined && html`<p>${requestBody.description}</p>`}${bodyFields(requestBody)}`}
${security !== undefined && html`<p class="filters"><label>Key, sent as authorization: Bearer<input type="password" autocomplete="off" size="40" data-key-field data-env="GUARD_KEY"></label></p><p class="quiet">The key stays in this field. It is neither stored nor part of an address. <code>${context.keyCommand}</code> prints it.</p>`}
<p class="buttons"><button class="main" data-request="send" data-scripted hidden>Send</button><button type="button" data-request="stop" hidden>Stop</button><span class="quiet" data-scripted hidden>Ctrl+Enter sends</span><noscript><button>Fill in the command</button> <span class="quiet">Sending from this page needs script.</span></noscript></p>
${command}
</form>
<div data-request="status" role="status"></div>
<section data-request="result" aria-label="Answer" hidden><details><summary>Headers</summary><pre data-request="headers"></pre></details><pre class="answer" data-request="output" tabindex="0" role="region" aria-label="Body of the answer"></pre><p><a data-request="download" hidden>Download</a></p></section>`
}

const parameterFields = (parameters: readonly Parameter[], values: URLSearchParams): Html =>
  html`<table class="list stacks api"><thead><tr><th scope="col">Parameter</th><th scope="col">Type</th><th scope="col">Value</th><th scope="col" class="free">Description and limits</th></tr></thead><tbody>
${parameters.map((parameter) => {
  const { name, in: location, required = false, description, schema = {} } = parameter
  return html`<tr><th scope="row" id="parameter-${name}"><code class="status">${name}</code>${location !== 'path' && html` <span class="quiet">${location}</span>`}</th><td><code>${typeText(schema)}</code>${required && html` <span class="status">required</span>`}</td><td>${parameterField(parameter, values.get(name) ?? '')}</td><td id="meaning-${name}">${description ?? schema.description} <span class="quiet">${constraintText(schema)}</span></td></tr>
`
})}</tbody></table>`

/** Keys have no name, so that a form without script does not put them into an address. */
const isSecret = ({ name, in: location }: Parameter): boolean =>
  location === 'header' && /(?:^|-)(?:key|token|authorization)$/.test(name)

const envOf = (name: string): string => name.replace(/^x-/, '').replaceAll('-', '_').toUpperCase()

const parameterField = (parameter: Parameter, value: string): Html => {
  const { name, in: location, required = false, schema = {} } = parameter
  const secret = isSecret(parameter)
  const attributes = html` data-in="${location}" data-name="${name}" aria-labelledby="parameter-${name}" aria-describedby="meaning-${name}"${required && raw` required`}${secret ? html` data-env="${envOf(name)}"` : html` name="${name}"`}`
  const choices = choicesOf(schema)
  if (choices.length > 0)
    return html`<select${attributes}><option value=""></option>${choices.map((choice) => html`<option value="${choice}"${choice === value && raw` selected`}>${choice}</option>`)}</select>`
  return html`<input${attributes} type="${secret ? 'password' : 'text'}" autocomplete="off" spellcheck="false" value="${secret ? '' : value}">`
}

/** All values that a schema allows; empty if they are too many to list. */
const choicesOf = (schema: Schema): readonly string[] => {
  const values = alternativesOf(schema).map(({ const: only, enum: some, type }) => {
    if (only !== undefined) return [only]
    return type === 'boolean' ? [true, false] : some
  })
  return values.some((some) => some === undefined) ? [] : values.flatMap((some = []) => some.map(String))
}

const ROWS_MIN = 3
const ROWS_MAX = 18

/** One editor for each media type; the first one is visible. */
const bodyFields = ({ content = {} }: Body): Html => {
  const types = Object.entries(content)
  return html`${types.length > 1 && html`<p class="filters" data-scripted hidden><label>Content type<select data-request="type">${types.map(([type]) => html`<option>${type}</option>`)}</select></label></p>`}
${types.map(([type, { schema = {}, example }], at) => {
  const text = example === undefined ? '' : typeof example === 'string' ? example : JSON.stringify(example, null, 2)
  const rows = Math.min(Math.max(text.split('\n').length, ROWS_MIN), ROWS_MAX)
  const isFile = schema.format === 'binary' || type === 'multipart/form-data'
  const isText = type !== 'multipart/form-data' && !/octet-stream|protobuf/.test(type)
  return html`<div data-body="${type}"${at > 0 && raw` hidden`}>${
    isText &&
    html`<textarea aria-label="Body, ${type}" rows="${rows}" spellcheck="false" autocomplete="off">
${text}</textarea>`
  }${isFile && html`<p><label>${isText ? 'or a file ' : 'File '}<input type="file"></label></p>`}</div>`
})}`
}
