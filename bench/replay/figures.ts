/** One measured number that is no time of an operation run again and again. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: 'ms' | 'µs' | 'MB' | 'MB/s' | 'spans/s'
}

export const figure = (name: string, value: number, unit: Figure['unit']): Figure => ({ name, value, unit })
