import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isBareData } from '../../../src/reader/acts/bare-data.ts';
import { readSentence } from '../../../src/reader/acts/read-sentence.ts';

const DATA = [
  'farida 4589',
  'Tilburg 50312',
  'farida and 88123',
  'account number 85',
  'zip code 50312',
  'street number 88',
  'company name Veltro',
  'john haverkamp',
  'Taylor',
  'Marta Kowalczyk',
  '221B Baker Street',
  '12 Hazel Road, Millbrook',
  'Lindenstr. 5, 13353 Berlin',
  'Kundennummer 44712',
  'Иван Петров',
];

const OTHERS = [
  'order 5512908',
  'invoice 20260114',
  'Jordan shoes',
  'amber alert',
  'bill payment',
  'oliver garden reviews',
  'phone steven',
  'room number 12 towels',
  'account number',
  'address change',
  'password reset',
  'id card',
  'hotel in 2027',
  'iphone 15',
  'pizza',
  'wifi password',
];

describe('bare data', () => {
  for (const text of DATA) it(`is all of: ${text}`, () => equal(isBareData(readSentence(text)), true));
  for (const text of OTHERS) it(`is not all of: ${text}`, () => equal(isBareData(readSentence(text)), false));
});
