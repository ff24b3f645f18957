// The whole of it: a thousand forged, expired and foreign tokens and approvals.
import './refusals.test.ts';
