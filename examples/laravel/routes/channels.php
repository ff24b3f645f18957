<?php

use App\Models\User;
use Illuminate\Support\Facades\Broadcast;
use Illuminate\Support\Facades\Http;

// The channel of a session is `private-agent.` and its id; characters other than letters, digits, `_` and `-` are written as `=2F`.
// Laravel has removed `private-` here. The id has no dot, at which a placeholder would end.
Broadcast::channel('agent.{session}', function (User $user, string $session): bool {
    $id = rawurlencode(quoted_printable_decode($session));
    $response = Http::withToken(config('services.stepline.token'))
        ->acceptJson()
        ->timeout(3)
        ->get(config('services.stepline.url')."/sessions/{$id}/facts");

    return $response->ok() && $response->json('owner') === (string) $user->getAuthIdentifier();
});
