import { readTypedNumber } from '@palisade/contract/typed-number';

/** Content of a price field: a price, empty, or a question about an ambiguous price. */
export type TypedPrice = { kind: 'price'; price: number } | { kind: 'empty' } | { kind: 'unclear'; sentence: string };

export function readPrice(typed: string): TypedPrice {
  const read = readTypedNumber(typed);
  switch (read.kind) {
    case 'number':
      return { kind: 'price', price: read.value };
    case 'empty':
      return { kind: 'empty' };
    case 'ambiguous': {
      const [whole, rounded] = [read.whole.toFixed(2), read.decimal.toFixed(2)];
      return { kind: 'unclear', sentence: `Enter a clear price: ${whole} or ${rounded}.` };
    }
    case 'invalid':
      return { kind: 'unclear', sentence: 'Enter a price, like 9.99 or 9,99.' };
  }
}
