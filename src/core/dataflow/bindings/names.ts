const NAME_LENGTH_MAX = 80;

/** Names that are used once in a file: a taken one gets a number behind it. */
export interface NamePool {
  take(wanted: string): string;
}

export function namePool(reserved: readonly string[] = []): NamePool {
  const taken = new Set(reserved);
  const counts = new Map<string, number>();
  return {
    take: (wanted) => {
      let name = wanted;
      for (let count = counts.get(wanted) ?? 2; taken.has(name); count += 1) {
        name = `${wanted}_${count}`;
        counts.set(wanted, count + 1);
      }
      taken.add(name);
      return name;
    },
  };
}

/** `shipping-address` as `ShippingAddress`, for the end of the name of a type. What is no letter or digit is left out. */
export function typeName(prefix: string, text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return `${prefix}${name === '' ? 'Value' : name}`.slice(0, NAME_LENGTH_MAX);
}

/** A text as an identifier of a member: `ship-to` as `ship_to`, `2nd` as `_2nd`. */
export function memberName(text: string): string {
  const name = text.replaceAll(/[^A-Za-z0-9_]/g, '_').slice(0, NAME_LENGTH_MAX);
  if (/^_*$/.test(name)) return 'value';
  return /^[0-9]/.test(name) ? `_${name}` : name;
}
