<?php

return [
    // Beside the services that are there already.
    'stepline' => [
        'url' => env('STEPLINE_URL', 'http://127.0.0.1:3000'),
        'token' => env('STEPLINE_TOKEN'),
    ],
];
