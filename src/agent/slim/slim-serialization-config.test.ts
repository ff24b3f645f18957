import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../../lib/index.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';

const standard = {
  maxMessages: 50,
  maxContentLength: 1000,
  maxSteps: 20,
  includeAllSteps: false,
  includeToolArgs: true,
  includeToolResults: true,
  includeMetadata: true,
  includeContinuationTrace: false,
};

describe('a slim serialization config', () => {
  test.each([
    ['standard', SlimSerializationConfig.standard(), standard],
    ['one without options', new SlimSerializationConfig(), standard],
    [
      'minimal',
      SlimSerializationConfig.minimal(),
      {
        ...standard,
        maxMessages: 10,
        maxContentLength: 500,
        maxSteps: 0,
        includeToolArgs: false,
        includeToolResults: false,
        includeMetadata: false,
      },
    ],
    [
      'full',
      SlimSerializationConfig.full(),
      {
        ...standard,
        maxMessages: Infinity,
        maxContentLength: Infinity,
        maxSteps: Infinity,
        includeAllSteps: true,
        includeContinuationTrace: true,
      },
    ],
  ])('%s has its numbers', (_, config, expected) => {
    expect({ ...config }).toStrictEqual(expected);
    expect(config).toBeInstanceOf(SlimSerializationConfig);
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('can be made from some options, and changed into another', () => {
    const own = new SlimSerializationConfig({ maxMessages: 0, maxContentLength: 1 });
    expect({ ...own }).toStrictEqual({ ...standard, maxMessages: 0, maxContentLength: 1 });
    expect({ ...own.with({ includeMetadata: false }) }).toStrictEqual({ ...own, includeMetadata: false });
    expect(own.includeMetadata).toBe(true);
    // @ts-expect-error A caller without a compiler may say undefined, and means nothing by it.
    expect({ ...own.with({ maxMessages: undefined }) }).toStrictEqual({ ...own });
  });

  test.each([
    [{ maxMessages: -1 }, 'maxMessages must be a whole number of 0 or more, or Infinity for no limit, not -1.'],
    [{ maxMessages: 1.5 }, 'not 1.5.'],
    [{ maxMessages: NaN }, 'not NaN.'],
    [{ maxMessages: '10' }, 'not "10".'],
    [{ maxContentLength: 0 }, 'maxContentLength must be a whole number of 1 or more'],
    [{ maxContentLength: -Infinity }, 'not -Infinity.'],
    [{ maxSteps: -5 }, 'maxSteps must be a whole number of 0 or more, or Infinity for no limit, not -5.'],
    [{ includeToolArgs: 'no' }, 'includeToolArgs must be true or false, not "no".'],
    [{ includeMetadata: 0 }, 'includeMetadata must be true or false, not 0.'],
    [{ maxMesages: 3 }, 'Unknown option "maxMesages" in SlimSerializationConfig. Did you mean "maxMessages"?'],
    [null, 'needs an object of options'],
    ['minimal', 'needs an object of options'],
  ])('is not made from %j', (options, message) => {
    const attempt = (): unknown => new SlimSerializationConfig(options as never);
    expect(attempt).toThrow(InvalidArgumentError);
    expect(attempt).toThrow(message);
  });
});
