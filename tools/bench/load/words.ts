/** Words of which benchmarks make messages without a meaning. */
export const WORDS: readonly string[] = [
  'please could you tell me how i can cancel or change the booking for my hotel room because card payment was declined',
  'when we tried to pay online yesterday evening and nobody answers phone',
].flatMap((line) => line.split(' '));
