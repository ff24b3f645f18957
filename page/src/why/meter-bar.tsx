import type { ReactElement } from 'react';
import type { Meter } from 'stepline/ui';
import { describeMeter, getFill, getLevel, nameMeter } from '../format/meters.ts';

interface MeterBarProps {
  readonly meter: Meter;
  /** Criterion that the meter belongs to. */
  readonly criterion?: string | undefined;
}

/** Used part of a limit: Steps: 12 of 20. */
export function MeterBar({ meter, criterion }: MeterBarProps): ReactElement {
  const [name, words] = [nameMeter(meter, criterion), describeMeter(meter)];
  return (
    <div
      className={`meter ${getLevel(meter)}`}
      role="meter"
      aria-label={`${name}: ${words}`}
      aria-valuemin={0}
      aria-valuemax={Math.max(meter.limit, meter.value)}
      aria-valuenow={meter.value}
      aria-valuetext={words}
    >
      <span className="meter-name">{name}</span>
      <span className="meter-track">
        <span style={{ width: `${getFill(meter) * 100}%` }} />
      </span>
      <span className="meter-words">{words}</span>
    </div>
  );
}
