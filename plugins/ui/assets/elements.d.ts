// Page scripts query only HTML elements, and events start at one.

interface ParentNode {
  querySelector(selectors: 'dialog'): HTMLDialogElement | null
  querySelector<E extends HTMLElement = HTMLElement>(selectors: string): E | null
  querySelectorAll<E extends HTMLElement = HTMLElement>(selectors: string): NodeListOf<E>
}

interface Document {
  createElementNS(space: string, name: string): HTMLElement
}

interface Element {
  blur?(): void
}

interface EventTarget {
  closest?<E extends Element = HTMLElement>(selectors: string): E | null
  matches?(selectors: string): boolean
  readonly form?: HTMLFormElement | null
}

interface JSON {
  /** Absent in older browsers. */
  rawJSON?(source: string): unknown
}
